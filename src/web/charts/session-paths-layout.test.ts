import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Flows, flowGraph, layOutFlow, neighbour, shortPath } from './session-paths-layout.ts'

const FLOWS: Flows = {
  sessionsSampled: 100,
  steps: [
    { index: 0, nodes: [{ path: '/', sessions: 100 }] },
    {
      index: 1,
      nodes: [
        { path: '/list', sessions: 52 },
        { path: '/product', sessions: 30 },
        { path: '/a', sessions: 5 },
        { path: '/b', sessions: 3 },
      ],
    },
    { index: 2, nodes: [{ path: '/cart', sessions: 40 }] },
  ],
  links: [
    { fromStep: 0, fromPath: '/', toPath: '/list', sessions: 52 },
    { fromStep: 0, fromPath: '/', toPath: '/product', sessions: 30 },
    { fromStep: 0, fromPath: '/', toPath: '/a', sessions: 5 },
    { fromStep: 0, fromPath: '/', toPath: '/b', sessions: 3 },
    { fromStep: 1, fromPath: '/list', toPath: '/cart', sessions: 35 },
    { fromStep: 1, fromPath: '/a', toPath: '/cart', sessions: 5 },
  ],
}

const seen = (flows: Flows, perStep: number) =>
  flowGraph(flows, perStep).nodes.map(({ step, kind, path, count, sessions }) => [step, path ?? kind, count, sessions])

describe('a flow chart', () => {
  test('groups paths with few sessions, and shows where sessions ended', () => {
    expect(seen(FLOWS, 2)).toEqual([
      [0, '/', 1, 100],
      [1, '/list', 1, 52],
      [1, '/product', 1, 30],
      [1, 'others', 2, 8],
      [1, 'left', null, 10],
      [2, '/cart', 1, 40],
      [2, 'left', null, 50],
    ])
    expect(flowGraph(FLOWS, 2).links.filter(({ from }) => from === '1 others')).toEqual([
      { from: '1 others', to: '2 page /cart', sessions: 5 },
      { from: '1 others', to: '2 left', sessions: 3 },
    ])
  })

  test('does not show the number of merged paths if the server merged them', () => {
    const nodes = [
      { path: '(other)', sessions: 60 },
      { path: '/', sessions: 50 },
    ]
    expect(seen({ sessionsSampled: 110, steps: [{ index: 0, nodes }], links: [] }, 5)).toEqual([
      [0, '/', 1, 50],
      [0, 'others', null, 60],
    ])
  })

  test('without sessions is empty', () => {
    expect(layOutFlow(flowGraph({ sessionsSampled: 0, steps: [], links: [] }), 800, 300)).toEqual({
      nodes: [],
      links: [],
    })
  })

  test('is laid out in ordered columns by step, without overlaps, and fits its box', () => {
    const walks = fc.array(
      fc.array(fc.constantFrom('/', '/a', '/b', '/c', '/d', '/e', '/f', '(other)'), { minLength: 1, maxLength: 4 }),
      {
        minLength: 1,
        maxLength: 40,
      },
    )
    fc.assert(
      fc.property(walks, (sessions) => {
        const graph = flowGraph(flowsOf(sessions), 3)
        const { nodes, links } = layOutFlow(graph, 800, 400)
        expect(links).toHaveLength(graph.links.length)
        for (const [index, node] of nodes.entries()) {
          expect(node.x).toBeGreaterThanOrEqual(0)
          expect(node.x + node.width).toBeLessThanOrEqual(800)
          expect(node.y + node.height).toBeLessThanOrEqual(401)
          const before = nodes[index - 1]
          if (before?.step === node.step) {
            expect(node.x).toBeCloseTo(before.x)
            expect(node.y).toBeGreaterThanOrEqual(before.y + before.height - 0.01)
          } else if (before) expect(node.x).toBeGreaterThan(before.x)
        }
        // The sessions at a step plus the sessions that ended before it equal the sessions at the previous step.
        for (const { id, sessions: count, step } of nodes) {
          if (step === 0) continue
          const entered = links.filter(({ to }) => to === id).reduce((sum, link) => sum + link.sessions, 0)
          expect(entered).toBe(count)
        }
      }),
    )
  })
})

/** The server's response for these sessions. */
function flowsOf(walks: readonly string[][]): Flows {
  const steps = new Map<number, Map<string, number>>()
  const links = new Map<string, Flows['links'][number]>()
  for (const walk of walks) {
    for (const [index, path] of walk.entries()) {
      const nodes = steps.get(index) ?? new Map<string, number>()
      steps.set(index, nodes.set(path, (nodes.get(path) ?? 0) + 1))
      const next = walk[index + 1]
      if (next === undefined) continue
      const link = { fromStep: index, fromPath: path, toPath: next, sessions: 0 }
      const key = JSON.stringify(link)
      links.set(key, { ...link, sessions: (links.get(key)?.sessions ?? 0) + 1 })
    }
  }
  return {
    sessionsSampled: walks.length,
    steps: [...steps].map(([index, nodes]) => ({
      index,
      nodes: [...nodes].map(([path, sessions]) => ({ path, sessions })),
    })),
    links: [...links.values()],
  }
}

test.each([
  ['/cart', 100, '/cart'],
  ['/products/electronics/phones', 100, '/produc…/phones'],
  ['/products/electronics/phones', 1, '/pr…es'],
])('%s in %d px is shortened to %s', (path, width, short) => expect(shortPath(path, width)).toBe(short))

describe('keyboard navigation', () => {
  const { nodes } = flowGraph(FLOWS, 2)
  test.each([
    ['1 page /list', 'ArrowDown', '1 page /product'],
    ['1 page /list', 'ArrowUp', '1 page /list'],
    ['1 left', 'ArrowRight', '2 left'],
    ['1 others', 'ArrowLeft', '0 page /'],
    ['0 page /', 'End', '2 left'],
    ['gone', 'ArrowDown', '0 page /'],
    ['1 left', 'a', '1 left'],
  ])('moves from %s with %s to %s', (id, key, to) => expect(neighbour(nodes, id, key)).toBe(to))
})
