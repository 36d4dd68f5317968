import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Category } from './jira-state.ts'
import { GOALS, nextStep, type Transition } from './workflow-path.ts'

const CATEGORY = fc.constantFrom<Category | null>('new', 'indeterminate', 'done', null)

/** A random workflow with up to seven statuses. */
const workflow = fc.integer({ min: 2, max: 7 }).chain((count) =>
  fc.record({
    categories: fc.array(CATEGORY, { minLength: count, maxLength: count }),
    ways: fc.array(fc.tuple(fc.nat(count - 1), fc.nat(count - 1)), { maxLength: 14 }),
    goal: fc.constantFrom('open' as const, 'acknowledged' as const, 'resolved' as const),
  }),
)

function offersIn(
  categories: readonly (Category | null)[],
  ways: readonly [number, number][],
  from: string,
): Transition[] {
  return ways.flatMap(([one, to], index) => {
    if (String(one) !== from) return []
    return [
      { id: String(index), name: '', to: { id: String(to), name: '', category: categories[to] ?? null }, fields: {} },
    ]
  })
}

/** Moves a ticket step by step and returns the statuses that it passes through. */
function walk({ categories, ways, goal }: typeof workflow extends fc.Arbitrary<infer T> ? T : never, most: number) {
  const known = new Map<string, Transition[]>()
  const path = ['0']
  const categoryOf = (id: string) => categories[Number(id)] ?? null
  for (let left = most; left > 0; left--) {
    const at = path.at(-1) ?? '0'
    if (GOALS[goal].isReached(categoryOf(at))) break
    known.set(at, offersIn(categories, ways, at))
    const offer = nextStep(known, at, GOALS[goal], left)
    if (!offer) break
    expect(offersIn(categories, ways, at)).toContainEqual(offer)
    path.push(offer.to.id)
  }
  return { path, isReached: GOALS[goal].isReached(categoryOf(path.at(-1) ?? '0')) }
}

/** True if there is a path to the goal, regardless of its length. */
function hasWay({ categories, ways, goal }: Parameters<typeof walk>[0]): boolean {
  const seen = new Set(['0'])
  for (const at of seen) {
    if (GOALS[goal].isReached(categories[Number(at)] ?? null)) return true
    for (const { to } of offersIn(categories, ways, at)) {
      if (GOALS[goal].isReached(to.category) || GOALS[goal].allows(to.category)) seen.add(to.id)
    }
  }
  return false
}

describe('the path through a workflow', () => {
  test('passes through no done status before reaching an in-progress status', () => {
    fc.assert(
      fc.property(workflow, (one) => {
        const { path } = walk({ ...one, goal: 'acknowledged' }, 5)
        expect(path.slice(1, -1).some((id) => one.categories[Number(id)] === 'done')).toBe(false)
      }),
    )
  })

  test('is a direct transition if one exists', () => {
    fc.assert(
      fc.property(workflow, (one) => {
        const direct = offersIn(one.categories, one.ways, '0').some(({ to }) => GOALS[one.goal].isReached(to.category))
        if (direct && !GOALS[one.goal].isReached(one.categories[0] ?? null)) expect(walk(one, 5).path).toHaveLength(2)
      }),
    )
  })

  test('is found in any workflow with return transitions, given enough steps', () => {
    fc.assert(
      fc.property(workflow, (one) => {
        // If the initial status is done, a path to an in-progress status must not lead back through it.
        fc.pre(one.goal !== 'acknowledged' || one.categories[0] !== 'done')
        const both = {
          ...one,
          ways: one.ways.flatMap(([from, to]): [number, number][] => [
            [from, to],
            [to, from],
          ]),
        }
        expect(walk(both, 60).isReached).toBe(hasWay(both))
      }),
    )
  })
})
