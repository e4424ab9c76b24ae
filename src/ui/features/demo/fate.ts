import type { AttemptDetail } from '#worker/api.ts'

/** What became of an attempt that was at work when the worker was ended. */
export interface Fate {
  isSettled: boolean
  words: string
}

const settled = (words: string): Fate => ({ isSettled: true, words })
const open = (words: string): Fate => ({ isSettled: false, words })

export function fateOf(
  {
    status,
    mutation,
    retriedBy,
    endTimestamp,
  }: Pick<AttemptDetail, 'status' | 'mutation' | 'retriedBy' | 'endTimestamp'>,
  killedAt: number,
): Fate {
  if (endTimestamp !== null && endTimestamp <= killedAt) return settled('It had just finished, and that was saved.')
  if (mutation?.resolvedBy === 'reconciled') {
    return mutation.status === 'applied'
      ? settled('Its change had gone out. The other side was asked, had it already, and it was not made again.')
      : settled('Its change had not arrived. The other side was asked, and it was made anew, once.')
  }
  if (status === 'paused:reconciliation') return settled('Nobody can tell whether its change was made: you are asked.')
  if (status === 'committed') return settled('It went on where it was, and is done.')
  if (retriedBy !== null) return settled('It had changed nothing yet: it was started again from what was saved.')
  return open('It is being taken up again …')
}
