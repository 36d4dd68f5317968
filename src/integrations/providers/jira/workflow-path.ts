import type { Category } from './jira-state.ts'
import type { Status } from './search-tickets.ts'

/** A transition that is available from a status. */
export interface Transition {
  id: string
  name: string
  to: Status
  /** Values for the transition's required fields. */
  fields: Record<string, unknown>
}

/** The status category that a ticket is to be moved to. */
export interface Goal {
  isReached(category: Category | null): boolean
  /** True if the path may pass through a status of this category. */
  allows(category: Category | null): boolean
  /** Categories in order of preference, for paths of equal length. */
  preference: readonly (Category | null)[]
}

export const GOALS = {
  open: {
    isReached: (category) => category !== 'done',
    allows: () => true,
    preference: ['new', 'indeterminate', null, 'done'],
  },
  acknowledged: {
    isReached: (category) => category === 'indeterminate',
    allows: (category) => category !== 'done',
    preference: ['indeterminate', 'new', null, 'done'],
  },
  resolved: {
    isReached: (category) => category === 'done',
    allows: () => true,
    preference: ['done', 'indeterminate', 'new', null],
  },
} as const satisfies Record<string, Goal>

/**
 * Known transitions by id of the status in which they are available. Contains the statuses that a ticket has been in.
 */
type KnownTransitions = ReadonlyMap<string, readonly Transition[]>

interface PathNode {
  id: string
  /** First transition of the path to this status. Null for the start. */
  first: Transition | null
  steps: number
}

/**
 * Returns the next transition towards the goal. It is the first transition of the shortest path through statuses with
 * known transitions, or otherwise of the path to the nearest status with unknown transitions. Null if neither is
 * reachable within `max` steps.
 */
export function nextStep(known: KnownTransitions, from: string, goal: Goal, max: number): Transition | null {
  const seen = new Set([from])
  const queue: PathNode[] = [{ id: from, first: null, steps: 0 }]
  let unknown: PathNode | null = null
  for (const { id, first, steps } of queue) {
    // A status with unknown transitions may be one step from the goal, so longer paths are not searched.
    if (steps === max || (unknown && steps > unknown.steps)) break
    const transitions = known.get(id)
    if (!transitions) {
      unknown ??= { id, first, steps }
      continue
    }
    const sorted = transitions.toSorted((one, other) => rank(goal, one) - rank(goal, other))
    const last = sorted.find(({ to }) => goal.isReached(to.category))
    if (last) return first ?? last
    for (const transition of sorted) {
      if (seen.has(transition.to.id) || !goal.allows(transition.to.category)) continue
      seen.add(transition.to.id)
      queue.push({ id: transition.to.id, first: first ?? transition, steps: steps + 1 })
    }
  }
  return unknown?.first ?? null
}

const rank = ({ preference: prefers }: Goal, { to }: Transition) => prefers.indexOf(to.category)
