import { expect, test } from 'bun:test'
import { transitionsOf } from './transitions.ts'

test('transitions include ended sessions and are sorted by frequency', () => {
  const node = (path: string, sessions: number) => ({ path, sessions, vendors: [] })
  const flows = {
    sessionsSampled: 10,
    sampledEvents: 30,
    sampling: null,
    steps: [
      { index: 0, nodes: [node('/', 10)] },
      { index: 1, nodes: [node('/a', 3), node('/b', 1)] },
    ],
    links: [
      { fromStep: 0, fromPath: '/', toPath: '/b', sessions: 1 },
      { fromStep: 0, fromPath: '/', toPath: '/a', sessions: 3 },
    ],
  }
  expect(transitionsOf(flows)).toEqual([
    { step: 0, from: '/', to: null, sessions: 6, share: 0.6 },
    { step: 0, from: '/', to: '/a', sessions: 3, share: 0.3 },
    { step: 0, from: '/', to: '/b', sessions: 1, share: 0.1 },
  ])
})
