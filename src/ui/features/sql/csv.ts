import type { SqlTable } from '#worker/api.ts'

type Cell = SqlTable['rows'][number][number]

/** RFC 4180, with a first line of names. Null is an empty field, bytes are hexadecimal. */
export const tableToCsv = ({ columns, rows }: Pick<SqlTable, 'columns' | 'rows'>): string =>
  [columns, ...rows.map((row) => row.map(cellText))].map((fields) => fields.map(csvField).join(',')).join('\r\n') +
  '\r\n'

export const cellText = (cell: Cell): string => {
  if (cell === null) return ''
  if (cell instanceof Uint8Array) return [...cell].map((byte) => byte.toString(16).padStart(2, '0')).join('')
  return String(cell)
}

const csvField = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)
