/** What the engine asks of whichever page is in front, and what that page answers. */
export type PageRequest =
  { kind: 'write_clipboard'; id: string; text: string } | { kind: 'open_run'; handlerRunId: string }

/** Only a page that tried answers; one in the background keeps silent. */
export interface PageAnswer {
  kind: 'answer'
  id: string
  /** Null when it was done. */
  problem: string | null
}

export const pageChannel = 'holdfast:page'
