import { expect, test } from 'vitest'
import { choosePeers, PEERS, planPeers } from '../../scripts/peer-list.mjs'

const names = (peers: readonly { name: string }[]) => peers.map(({ name }) => name)

test('a peer that could not be installed is left out with a line that says so, and the others stay', () => {
  const [missing, ...others] = PEERS
  const { atHand, leftOut } = planPeers(PEERS, {
    isInstalled: (peer) => peer !== missing,
    isUp: { postgres: true, redis: true },
  })
  expect(names(atHand)).toEqual(names(others))
  expect(leftOut).toEqual([`${missing?.name} was left out: its packages could not be installed.`])
})

test.each([
  ['postgres', 'PostgreSQL'],
  ['redis', 'Redis'],
])('without %s exactly the peers that need it are left out, each with a line', (server, title) => {
  const isUp = { postgres: true, redis: true, [server]: false }
  const { atHand, leftOut } = planPeers(PEERS, { isInstalled: () => true, isUp })
  const needy = PEERS.filter(({ needs }) => needs === server)
  expect(needy.length).toBeGreaterThan(0)
  expect(names(atHand)).toEqual(names(PEERS.filter((peer) => !needy.includes(peer))))
  expect(leftOut).toEqual(names(needy).map((name) => `${name} was left out: ${title} could not be started.`))
})

test('peers that are called by their folders leave the others out, and what calls none is left for the measurements', () => {
  const { chosen, rest } = choosePeers(PEERS, ['restate', 'recovery', 'dbos'])
  expect(chosen.map(({ folder }) => folder)).toEqual(['dbos', 'restate'])
  expect(rest).toEqual(['recovery'])
  expect(choosePeers(PEERS, ['recovery'])).toEqual({ chosen: PEERS, rest: ['recovery'] })
})
