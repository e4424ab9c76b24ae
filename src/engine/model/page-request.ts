/** What the engine asks of a page: the clipboard and a run to open are for the one in front, a notification for any. */
export type PageRequest =
  | { kind: 'write_clipboard'; id: string; text: string }
  | { kind: 'show_notification'; id: string; title: string; body: string; tag: string; href: string }
  | { kind: 'open_run'; handlerRunId: string }

/** Only a page that tried answers; one that cannot keeps silent. */
export interface PageAnswer {
  kind: 'answer'
  id: string
  /** Null when it was done. */
  problem: string | null
}

export const pageChannel = 'holdfast:page'
