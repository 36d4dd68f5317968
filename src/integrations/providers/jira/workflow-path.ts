import type { Category } from './jira-state.ts'
import type { Status } from './search-tickets.ts'

/** One transition that a status offers. */
export interface Transition {
  id: string
  name: string
  to: Status
  /** Values for what has to be filled; empty: nothing has to. */
  fields: Record<string, unknown>
}

/** Where a ticket is to come. */
export interface Goal {
  isReached(category: Category | null): boolean
  /** False: no way leads through such a status. */
  mayPass(category: Category | null): boolean
  /** Which of two equal ways is better: the category that stands first. */
  prefers: readonly (Category | null)[]
}

export const GOALS = {
  open: {
    isReached: (category) => category !== 'done',
    mayPass: () => true,
    prefers: ['new', 'indeterminate', null, 'done'],
  },
  acknowledged: {
    isReached: (category) => category === 'indeterminate',
    mayPass: (category) => category !== 'done',
    prefers: ['indeterminate', 'new', null, 'done'],
  },
  resolved: {
    isReached: (category) => category === 'done',
    mayPass: () => true,
    prefers: ['done', 'indeterminate', 'new', null],
  },
} as const satisfies Record<string, Goal>

/** What the statuses offer that a ticket has been in, by their ids. */
export type Known = ReadonlyMap<string, readonly Transition[]>

interface Place {
  id: string
  /** With which the way there begins. */
  first: Transition | null
  steps: number
}

/**
 * The transition to take next: it begins the shortest way to the goal over statuses whose offers are known, else to the
 * nearest status whose offers are not. Null when there is neither within `most` steps.
 */
export function nextStep(known: Known, from: string, goal: Goal, most: number): Transition | null {
  const seen = new Set([from])
  const places: Place[] = [{ id: from, first: null, steps: 0 }]
  let unknown: Place | null = null
  for (const { id, first, steps } of places) {
    // A status that is not known offers the goal in one more step at best, as a known one does for sure.
    if (steps === most || (unknown && steps > unknown.steps)) break
    const offers = known.get(id)
    if (!offers) {
      unknown ??= { id, first, steps }
      continue
    }
    const sorted = offers.toSorted((one, other) => rank(goal, one) - rank(goal, other))
    const last = sorted.find(({ to }) => goal.isReached(to.category))
    if (last) return first ?? last
    for (const offer of sorted) {
      if (seen.has(offer.to.id) || !goal.mayPass(offer.to.category)) continue
      seen.add(offer.to.id)
      places.push({ id: offer.to.id, first: first ?? offer, steps: steps + 1 })
    }
  }
  return unknown?.first ?? null
}

const rank = ({ prefers }: Goal, { to }: Transition) => prefers.indexOf(to.category)
