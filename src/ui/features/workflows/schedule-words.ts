import type { ScheduleView } from '#worker/api.ts'

const UNITS: Record<string, string> = { s: 'second', m: 'minute', h: 'hour', d: 'day' }

/** "every 5 minutes". Null for a cron expression, which needs a library to be read aloud. */
export function intervalWords(value: string): string | null {
  const [, amount, unit] = /^(\d+)([smhd])$/.exec(value) ?? []
  const word = unit === undefined ? undefined : UNITS[unit]
  if (amount === undefined || word === undefined) return null
  return amount === '1' ? `every ${word}` : `every ${amount} ${word}s`
}

/** The library is large and only cron expressions need it: it comes as a chunk of its own. */
export async function cronWords({ value, timezone }: Pick<ScheduleView, 'value' | 'timezone'>): Promise<string> {
  const { default: cronstrue } = await import('cronstrue')
  const words = cronstrue.toString(value, { throwExceptionOnParseError: false, use24HourTimeFormat: true })
  const lower = words.charAt(0).toLowerCase() + words.slice(1)
  return timezone === null ? lower : `${lower}, ${timezone}`
}
