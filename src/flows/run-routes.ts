import { maskPersonal } from '../conditions/mask.ts'
import type { Privacy } from '../conditions/privacy.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, Nullable, OneOf, Type } from '../core/schema.ts'
import { DEFAULT_LIMIT, pagingFields } from '../http/paging.ts'
import { may } from '../http/permission.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { ExpectationSchema } from './expectation.ts'
import { maskedFacts } from './masked-run.ts'
import { ownExpectations } from './own-expectations.ts'
import type { RunFiles } from './run-files.ts'
import { ReportListSchema, RUN_STATUSES, RunDetailSchema, RunSchema, type Share, withoutNulls } from './run-schema.ts'
import { cancelRun, endedRuns, factsOf, findRun, listRuns, shownRun } from './run-store.ts'

export interface RunRouteParts {
  db: Db
  clock: Clock
  files: RunFiles
  /** Ends the browser of a run that was cancelled. */
  stop(runId: string): void
  privacyOf(orgId: string): Privacy
  /** Returns the public links of runs, revoked ones too. */
  sharesOf(orgId: string, runIds: readonly string[]): ReadonlyMap<string, readonly Share[]>
}

const tag = 'Flow tests'
/** How many reports there are at most. */
const MAX_REPORTS = 100

const RunList = Closed({ runs: Type.Array(RunSchema), nextCursor: Nullable(Type.String()) }, { $id: 'RunList' })

const RunExpectations = Closed(
  { expectations: Type.Array(ExpectationSchema) },
  {
    $id: 'RunExpectations',
    examples: [{ expectations: [{ step: 1, vendor: 'Google Analytics 4', event: 'add_to_cart' }] }],
  },
)

/** Read from its file as it is. */
const HarText = Type.Unsafe<Blob>(
  Type.Object({ log: Type.Object({}) }, { $id: 'Har', examples: [{ log: { version: '1.2', entries: [] } }] }),
)
const Png = Type.Unsafe<Blob>(Type.String({ contentMediaType: 'image/png', examples: ['\u0089PNG'] }))

const ByStep = Closed({ id: Type.String({ maxLength: 100 }), index: Type.String({ maxLength: 10 }) })

/** Runs under `/v1/flows/runs`, and `/v1/flows/reports`. */
export function runRoutes(parts: RunRouteParts): Route[] {
  return [...listingRoutes(parts), ...detailRoutes(parts), cancelRoute(parts), ...fileRoutes(parts)]
}

function listingRoutes({ db, privacyOf, sharesOf }: RunRouteParts): Route[] {
  return [
    route({
      id: 'listRuns',
      method: 'GET',
      path: '/v1/flows/runs',
      access: 'read',
      tag,
      summary: 'Runs of flow tests, newest first',
      tool: true,
      query: Closed({
        testId: Type.Optional(Type.String({ maxLength: 100 })),
        status: Type.Optional(OneOf(RUN_STATUSES)),
        ...pagingFields,
      }),
      answer: RunList,
      handle({ principal: { orgId }, query: { cursor, limit = DEFAULT_LIMIT, ...filter } }) {
        const { runs, nextCursor } = listRuns(db, orgId, filter, { cursor, limit })
        return { runs: runs.map((run) => masked(shownRun(run), privacyOf(orgId))), nextCursor }
      },
    }),
    route({
      id: 'listFlowReports',
      method: 'GET',
      path: '/v1/flows/reports',
      access: 'read',
      tag,
      summary: 'The last 100 runs that ended, newest first, each with how it went in words',
      tool: true,
      answer: ReportListSchema,
      handle({ principal: { orgId } }) {
        const runs = endedRuns(db, orgId, MAX_REPORTS)
        const privacy = privacyOf(orgId)
        const runIds = runs.map(({ id }) => id)
        const shares = sharesOf(orgId, runIds)
        const reports = runs.map(({ testName, ...run }) => ({
          run: withoutNulls(masked(shownRun(run), privacy)),
          testName: maskPersonal(testName, '', privacy),
          headline: maskPersonal(run.headline, '', privacy),
          shares: (shares.get(run.id) ?? []).map(withoutNulls),
        }))
        return { reports }
      },
    }),
  ]
}

/** What a browser said may name what is personal. */
function masked<R extends { error: string | null }>(run: R, privacy: Privacy): R {
  return run.error === null ? run : { ...run, error: maskPersonal(run.error, '', privacy) }
}

function detailRoutes({ db, files, privacyOf, sharesOf }: RunRouteParts): Route[] {
  return [
    route({
      id: 'getRun',
      method: 'GET',
      path: '/v1/flows/runs/{id}',
      access: 'read',
      tag,
      summary: 'A run with its steps, events and findings; what is personal is masked',
      tool: true,
      params: ById,
      answer: RunDetailSchema,
      handle({ principal, params: { id } }) {
        const { orgId } = principal
        const run = findRun(db, { orgId, id })
        const privacy = privacyOf(orgId)
        const { steps, findings, events, errors } = maskedFacts(factsOf(db, id), privacy)
        const shots = may(principal, 'seePersonal') ? files.screenshots(id) : new Set()
        return {
          ...masked(shownRun(run), privacy),
          attempts: run.attempts,
          steps: steps.map((step) => ({ ...step, screenshot: step.screenshot && shots.has(step.index) })),
          ...{ findings, events, errors },
          shares: [...(sharesOf(orgId, [id]).get(id) ?? [])],
        }
      },
    }),
    route({
      id: 'getRunExpectations',
      method: 'GET',
      path: '/v1/flows/runs/{id}/expectations',
      access: 'read',
      tag,
      summary: 'Expectations that a run which passed would meet again',
      refusals: ['conflict'],
      tool: true,
      params: ById,
      answer: RunExpectations,
      handle({ principal: { orgId }, params: { id } }) {
        const { status } = findRun(db, { orgId, id })
        if (status !== 'passed') throw new AppError('conflict', 'only a run that passed says what is right')
        return { expectations: ownExpectations(factsOf(db, id).events, privacyOf(orgId)) }
      },
    }),
  ]
}

function cancelRoute({ db, clock, stop }: RunRouteParts): Route {
  return route({
    id: 'cancelRun',
    method: 'POST',
    path: '/v1/flows/runs/{id}/cancel',
    access: 'edit',
    tag,
    summary: 'Cancel a run that waits or goes on; its browser ends at once',
    refusals: ['conflict'],
    tool: true,
    params: ById,
    answer: OkSchema,
    handle({ principal: { orgId }, params: { id } }) {
      cancelRun(db, { orgId, id }, clock.now())
      return OK
    },
    after: ({ params: { id } }) => stop(id),
  })
}

function fileRoutes({ db, files }: RunRouteParts): Route[] {
  return [
    route({
      id: 'getRunHar',
      method: 'GET',
      path: '/v1/flows/runs/{id}/har',
      access: 'seePersonal',
      tag,
      summary: 'All requests of a run as a HAR 1.2, with secrets masked',
      params: ById,
      produces: 'application/json',
      answer: HarText,
      handle({ principal: { orgId }, params: { id } }) {
        findRun(db, { orgId, id })
        return files.har(id)
      },
    }),
    route({
      id: 'getRunScreenshot',
      method: 'GET',
      path: '/v1/flows/runs/{id}/steps/{index}/screenshot',
      access: 'seePersonal',
      tag,
      summary: 'What the page showed after a step: a PNG, with personal data and secrets in texts and fields covered',
      params: ByStep,
      produces: 'image/png',
      answer: Png,
      handle({ principal: { orgId }, params: { id, index } }) {
        findRun(db, { orgId, id })
        if (!/^\d{1,3}$/.test(index)) throw new AppError('notFound', 'there is no such step')
        return files.screenshot(id, Number(index))
      },
    }),
  ]
}
