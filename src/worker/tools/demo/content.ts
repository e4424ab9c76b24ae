import { chance, pick } from './chance.ts'

type Pair = readonly [string, string]

const PEOPLE: readonly [Pair, ...Pair[]] = [
  ['Ada Okafor', 'ada@northwind.example'],
  ['Ben Castillo', 'ben@lighthouse.example'],
  ['Chiara Rossi', 'chiara@fabrikam.example'],
  ['Dmitri Novak', 'dmitri@contoso.example'],
  ['Esi Mensah', 'esi@tailspin.example'],
  ['Freja Lund', 'freja@proseware.example'],
  ['Goro Tanaka', 'goro@wingtip.example'],
  ['Hana Kim', 'hana@litware.example'],
]

const TOPICS: readonly [Pair, ...Pair[]] = [
  ['Invoice', 'Please find our invoice attached. The amount is due within 14 days.'],
  ['Order', 'We would like to order the same again. Can you deliver this week?'],
  ['Question', 'How do I change the address on my account? I could not find it.'],
  ['Problem', 'The export stopped half way and I had to start over. Can you have a look?'],
  ['Thanks', 'Everything arrived in good order. Thank you for the quick help!'],
  ['Meeting', 'Would Thursday at ten suit you? I will bring the figures.'],
]

export interface Letter {
  from: string
  name: string
  subject: string
  body: string
  topic: string
  /** In euros; only some letters are about money. */
  amount: number | null
}

export function letter(seed: string, n: number): Letter {
  const [name, from] = pick(PEOPLE, seed, 'person', n)
  const [topic, body] = pick(TOPICS, seed, 'topic', n)
  const isMoney = topic === 'Invoice' || topic === 'Order'
  const amount = isMoney ? Math.round(chance(seed, 'amount', n) * 90_000 + 1_000) / 100 : null
  const subject = `${topic} ${1_000 + n}${amount === null ? '' : `: ${amount.toFixed(2)} €`}`
  return { from, name, subject, body: `${body}\n\n${name}`, topic: topic.toLowerCase(), amount }
}

export function chatter(seed: string, n: number): { from: string; text: string } {
  const about = letter(seed, n)
  const speaker = pick(['Mira', 'Jonas', 'Sam'], seed, 'speaker', n)
  const text = pick(
    [
      `Has anybody answered ${about.name} yet?`,
      `"${about.subject}" is for me, I think.`,
      `Who looks after ${about.from}?`,
      `I put ${about.name} on the list.`,
    ],
    seed,
    'chatter',
    n,
  )
  return { from: speaker, text }
}

/** Rows that are in the sheet `Customers` from the start: something to look up. */
export const customers = (): { id: string; values: Record<string, string> }[] =>
  PEOPLE.map(([name, email], n) => ({
    id: `row-${n + 1}`,
    values: { name, email, company: email.slice(email.indexOf('@') + 1).replace('.example', '') },
  }))
