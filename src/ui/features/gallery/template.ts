import type { SessionRequest } from '#engine/model/session-request.ts'
import type { Glyph } from './glyphs.ts'

/** Columns of glyphs from left to right: each is joined to all of the next column. */
export type Picture = readonly (readonly Glyph[])[]

interface Described {
  id: string
  title: string
  /** One sentence: what it does for you. */
  sentence: string
  picture: Picture
}

export interface WorkflowTemplate extends Described {
  kind: 'workflow'
  source: string
  /** Present when it reads an address that the user gives; `example` stands in the source until then. */
  address?: { label: string; example: string }
}

export interface SessionTemplate extends Described {
  kind: 'session'
  session: SessionRequest
}
