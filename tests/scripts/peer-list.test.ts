import { expect, test } from 'vitest'
import { PEERS, planPeers } from '../../scripts/peer-list.mjs'

const names = (peers: readonly { name: string }[]) => peers.map(({ name }) => name)

test('a peer that could not be installed is left out with a line that says so, and the others stay', () => {
  const [missing, ...others] = PEERS
  const { atHand, leftOut } = planPeers(PEERS, { isInstalled: (peer) => peer !== missing, isPostgresUp: true })
  expect(names(atHand)).toEqual(names(others))
  expect(leftOut).toEqual([`${missing?.name} was left out: its packages could not be installed.`])
})

test('without PostgreSQL exactly the peers that need it are left out, each with a line', () => {
  const { atHand, leftOut } = planPeers(PEERS, { isInstalled: () => true, isPostgresUp: false })
  const needy = PEERS.filter(({ needs }) => needs === 'postgres')
  expect(needy.length).toBeGreaterThan(0)
  expect(names(atHand)).toEqual(names(PEERS.filter((peer) => !needy.includes(peer))))
  expect(leftOut).toEqual(names(needy).map((name) => `${name} was left out: PostgreSQL could not be started.`))
})
