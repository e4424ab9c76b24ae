import type { Glyph } from './glyphs.ts'
import type { Picture } from './template.ts'

export interface PlacedGlyph {
  glyph: Glyph
  x: number
  y: number
  isLast: boolean
}

export interface PictureLayout {
  width: number
  height: number
  glyphs: PlacedGlyph[]
  /** Curves from each glyph to all of the next column. */
  paths: string[]
}

const WIDTH = 240
const HEIGHT = 112
const ROW = 30
/** Half of a glyph's box, where lines begin and end. */
const REACH = 15

export function layOutPicture(picture: Picture): PictureLayout {
  const columns = picture.map((column, at) =>
    column.map((glyph, row) => ({
      glyph,
      x: (WIDTH * (at + 0.5)) / picture.length,
      y: HEIGHT / 2 + (row - (column.length - 1) / 2) * Math.min(ROW + 4, HEIGHT / column.length),
      isLast: at === picture.length - 1,
    })),
  )
  const paths = columns.flatMap((column, at) =>
    column.flatMap((from) => (columns[at + 1] ?? []).map((to) => curve(from.x + REACH, from.y, to.x - REACH, to.y))),
  )
  return { width: WIDTH, height: HEIGHT, glyphs: columns.flat(), paths }
}

function curve(x1: number, y1: number, x2: number, y2: number): string {
  const middle = (x1 + x2) / 2
  return `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`
}
