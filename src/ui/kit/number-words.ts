import { once } from './once.ts'

const grouped = once(() => new Intl.NumberFormat('en'))
const compact = once(() => new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }))
const SIZES = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const

export const count = (n: number): string => grouped().format(n)

/** "12.3K": where only the size matters. */
export const roughCount = (n: number): string => (n < 10_000 ? grouped().format(n) : compact().format(n))

/** "3 events", "1 event". */
export const plural = (n: number, one: string, many = `${one}s`): string =>
  `${grouped().format(n)} ${n === 1 ? one : many}`

export function byteSize(bytes: number): string {
  let size = bytes
  let unit = 0
  while (size >= 1_000 && unit < SIZES.length - 1) {
    size /= 1_000
    unit += 1
  }
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${SIZES[unit] ?? ''}`
}

/** Costs are kept in millionths. */
export const money = (microUnits: number): string =>
  microUnits === 0 ? '–' : `$${(microUnits / 1_000_000).toFixed(microUnits < 10_000 ? 4 : 2)}`
