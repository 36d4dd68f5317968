import type { Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Nullable, OneOf, type Static } from '../core/schema.ts'
import { type Db, prepared } from '../store/database.ts'
import type { Alert } from './alert.ts'
import type { Cursor } from './due-windows.ts'
import { alertTypes } from './types/index.ts'

export const AlertStateSchema = Closed(
  {
    state: OneOf(['off', 'violated', 'muted', 'learning', 'ok'], {
      description:
        '`off`: the alert is disabled. `violated`: it has an open issue, or an acknowledged one that still occurs. ' +
        '`muted`: such issues are muted. `learning`: no window has been evaluated yet, or the signals that it ' +
        'monitors are still learning',
    }),
    lastEvaluatedAt: Nullable(InstantSchema, {
      description:
        'Events received before this time have been evaluated. Null before the first evaluation, and for alerts that ' +
        'are evaluated for each event as it arrives',
    }),
    nextEvaluationAt: Nullable(InstantSchema, {
      description:
        'Time of the next evaluation. Null for alerts that are disabled or evaluated for each event as it arrives',
    }),
  },
  {
    $id: 'AlertState',
    examples: [{ state: 'ok', lastEvaluatedAt: 1_767_614_400_000, nextEvaluationAt: 1_767_618_000_000 }],
  },
)
type AlertState = Static<typeof AlertStateSchema>

/** By alert id. Alerts without unresolved issues are absent. */
export type IssueStates = Record<string, 'violated' | 'muted'>

interface StateSources {
  issueStates: IssueStates
  /** Returns whether none of the signals that the alert monitors has finished learning. */
  isLearning(id: string): boolean
}

interface Progress extends Cursor {
  id: string
  dueAt: Instant
}

type StatedAlert = Pick<Alert, 'id' | 'alertType' | 'enabled' | 'createdAt'>

/** Returns the state of each of these alerts by id. */
export function alertStates(db: Db, alerts: readonly StatedAlert[], sources: StateSources): Record<string, AlertState> {
  const rows = prepared<[string], Progress>(
    db,
    'SELECT id, evaluatedThrough, windowStartAt, dueAt FROM alert WHERE id IN (SELECT value FROM json_each(?))',
  ).all(JSON.stringify(alerts.map(({ id }) => id)))
  const progress = new Map(rows.map((row) => [row.id, row]))
  return Object.fromEntries(alerts.map((alert) => [alert.id, stateOf(alert, progress.get(alert.id), sources)]))
}

/** False until the first evaluation. An alert that was changed or enabled may have to wait for its next whole window. */
const hasBegun = ({ evaluatedThrough, windowStartAt }: Cursor, createdAt: Instant) =>
  evaluatedThrough > createdAt && evaluatedThrough >= windowStartAt

function stateOf(
  { id, alertType, enabled, createdAt }: StatedAlert,
  progress: Progress | undefined,
  { issueStates, isLearning }: StateSources,
): AlertState {
  const evaluated = alertTypes.find(({ kind }) => kind === alertType)?.evaluated
  const isScheduled = evaluated !== 'on arrival' && progress !== undefined
  const lastEvaluatedAt = isScheduled && hasBegun(progress, createdAt) ? progress.evaluatedThrough : null
  if (!enabled) return { state: 'off', lastEvaluatedAt, nextEvaluationAt: null }
  const isNew = (isScheduled && lastEvaluatedAt === null) || isLearning(id)
  return {
    state: issueStates[id] ?? (isNew ? 'learning' : 'ok'),
    lastEvaluatedAt,
    nextEvaluationAt: isScheduled ? progress.dueAt : null,
  }
}
