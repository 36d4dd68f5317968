import type { Privacy } from '../conditions/privacy-settings.ts'
import { CHANGE_STATUSES } from '../contract/statuses.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, OneOf, Type } from '../core/schema.ts'
import { timeText } from '../core/text.ts'
import { findProject } from '../domains/project-store.ts'
import { requireDomain } from '../domains/store.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { type Change, type ChangeInput, ChangeInputSchema, ChangeSchema, MAX_AHEAD_MS, maskedChange } from './change.ts'
import { type ChangeFilter, findChange, listChanges, MAX_SEEN_RELEASES, noteChange, seenReleases } from './store.ts'

export interface ChangeRouteDeps {
  db: Db
  clock: Clock
  /** Retention time of events. */
  retentionMs: number
  /** Returns the privacy settings of the organization. */
  privacyOf(orgId: string): Privacy
  /** Returns the run of the release gate for each change, by change id. */
  gateRunsOf(orgId: string, changes: readonly Change[]): ReadonlyMap<string, NonNullable<Change['gateRun']>>
}

const tag = 'Changes'

const ListQuery = Closed({
  projectId: Type.Optional(Type.String({ maxLength: 100 })),
  domainId: Type.Optional(Type.String({ maxLength: 100 })),
  status: Type.Optional(OneOf(CHANGE_STATUSES)),
  ...pagingFields,
})

const ChangeList = Closed({ changes: Type.Array(ChangeSchema), nextCursor: NextCursorSchema }, { $id: 'ChangeList' })

const ReleaseListSchema = Closed(
  {
    releases: Type.Array(Closed({ version: Type.Number(), firstSeenAt: InstantSchema }), {
      maxItems: MAX_SEEN_RELEASES,
      description: 'Most recent first',
    }),
  },
  { $id: 'ReleaseList', examples: [{ releases: [{ version: 42, firstSeenAt: 1_767_614_400_000 }] }] },
)

/** Routes for changes to domains and for the verdicts on them. */
export function changeRoutes(parts: ChangeRouteDeps): Route[] {
  /** Responses about changes that already existed. */
  const repeats = new WeakSet<object>()
  return [
    route({
      id: 'listChanges',
      method: 'GET',
      path: '/v1/changes',
      access: 'read',
      tag,
      summary: 'List changes to domains and their effects on events, newest first',
      refusals: ['notFound'],
      tool: true,
      query: ListQuery,
      answer: ChangeList,
      exports: 'changes',
      handle({ principal: { orgId }, query }) {
        requireScope(parts, orgId, query)
        const { items, nextCursor } = listChanges(parts.db, orgId, query)
        return { changes: shownChanges(parts, orgId, items), nextCursor }
      },
    }),
    route({
      id: 'listReleases',
      method: 'GET',
      path: '/v1/changes/releases',
      access: 'read',
      tag,
      summary: 'List the releases of a domain: the versions in its production traffic',
      refusals: ['notFound'],
      tool: true,
      query: Closed({ domainId: Type.String({ maxLength: 100 }) }),
      answer: ReleaseListSchema,
      handle({ principal: { orgId }, query: { domainId } }) {
        requireScope(parts, orgId, { domainId })
        return { releases: seenReleases(parts.db, domainId) }
      },
    }),
    route({
      id: 'postChange',
      method: 'POST',
      path: '/v1/changes',
      access: 'edit',
      tag,
      summary: 'Report a change, for example from a deployment pipeline, and monitor its effects on events',
      description:
        'Events in the watch window are compared with earlier events and with the usual volume for the hour and weekday. ' +
        'Repeating a domain, source and ref returns the existing change with 200.',
      refusals: ['notFound'],
      tool: true,
      body: ChangeInputSchema,
      status: 201,
      repeats: (answer) => repeats.has(answer),
      answer: ChangeSchema,
      handle({ principal: { orgId }, body }) {
        const { change, isNew } = postChange(parts, orgId, body)
        const [shown = change] = shownChanges(parts, orgId, [change])
        if (!isNew) repeats.add(shown)
        return shown
      },
    }),
  ]
}

/** Returns changes for display, with their runs of the release gate. */
function shownChanges({ privacyOf, gateRunsOf }: ChangeRouteDeps, orgId: string, changes: readonly Change[]): Change[] {
  const privacy = privacyOf(orgId)
  const runs = gateRunsOf(orgId, changes)
  return changes.map((change) => {
    const run = runs.get(change.id)
    const shown = maskedChange(change, privacy)
    if (!run) return shown
    const { id, status, problems, createdAt } = run
    return { ...shown, gateRun: { id, status, problems, createdAt } }
  })
}

function postChange({ db, clock, retentionMs }: ChangeRouteDeps, orgId: string, input: ChangeInput) {
  const now = clock.now()
  const { occurredAt = now, ...rest } = input
  if (!/^[a-z0-9_-]+$/.test(input.source))
    throw new AppError('invalid', 'source: only the characters a–z, 0–9, _ and - are allowed')
  if (occurredAt < now - retentionMs)
    throw new AppError(
      'invalid',
      `occurredAt: must not be before ${timeText(now - retentionMs)}, the start of the stored events`,
    )
  if (occurredAt > now + MAX_AHEAD_MS)
    throw new AppError('invalid', 'occurredAt: must not be more than 5 minutes in the future')
  const noted = noteChange(db, now, { ...rest, orgId, occurredAt })
  const change: Change | null = noted && findChange(db, { orgId, id: noted.id })
  if (!noted || !change) throw new AppError('notFound', 'domainId: no such domain')
  return { change, isNew: noted.isNew }
}

/** Throws `notFound` when the requested domain or project does not belong to the organization. */
function requireScope({ db }: ChangeRouteDeps, orgId: string, { domainId, projectId }: ChangeFilter): void {
  if (domainId !== undefined) requireDomain(db, { orgId, id: domainId })
  if (projectId !== undefined) findProject(db, { orgId, id: projectId })
}
