const WIDTH = 760
const LABEL_WIDTH = 290
const VALUE_WIDTH = 110
const ROW = 26
const BAR = 16

/** @param {string} text */
const escape = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')

/** @param {number} value */
export const figure = (value) => {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(3)))
}

/**
 * Lying bars with their figures, readable on a light and on a dark page. Where the largest is a hundred times the smallest, the
 * bars are logarithmic and say so.
 * @param {{ title: string, unit: string, bars: { name: string, value: number, isOurs: boolean }[] }} plot
 */
export function plotBars({ title, unit, bars }) {
  const values = bars.map(({ value }) => value).filter((value) => value > 0)
  const largest = Math.max(...values)
  const smallest = Math.min(...values)
  const isLogarithmic = largest / smallest > 100
  const room = WIDTH - LABEL_WIDTH - VALUE_WIDTH
  const floor = smallest / 2
  /** @param {number} value */
  const length = (value) => {
    if (!(value > 0)) return 0
    return isLogarithmic ? (room * Math.log(value / floor)) / Math.log(largest / floor) : (room * value) / largest
  }
  const height = 40 + bars.length * ROW
  const rows = bars.map(({ name, value, isOurs }, n) => {
    const y = 36 + n * ROW
    const end = LABEL_WIDTH + length(value)
    return `  <text class="label" x="${LABEL_WIDTH - 8}" y="${y + 12}">${escape(name)}</text>
  <rect class="${isOurs ? 'ours' : 'other'}" x="${LABEL_WIDTH}" y="${y}" width="${length(value).toFixed(1)}" height="${BAR}" rx="2"/>
  <text class="value" x="${(end + 6).toFixed(1)}" y="${y + 12}">${figure(value)}</text>`
  })
  const scale = isLogarithmic ? ', logarithmic' : ''
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
  <title>${escape(title)}</title>
  <style>
    text { font: 13px system-ui, sans-serif; fill: #1f2328 }
    .title { font-weight: 600 }
    .label { text-anchor: end }
    .ours { fill: #0f766e }
    .other { fill: #94a3b8 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .ours { fill: #2dd4bf }
      .other { fill: #64748b }
    }
  </style>
  <text class="title" x="0" y="18">${escape(title)} (${escape(unit)}${scale})</text>
${rows.join('\n')}
</svg>
`
}
