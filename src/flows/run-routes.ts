import { compileMask, maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, OneOf, Type } from '../core/schema.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { may } from '../http/permission.ts'
import { ById, OK, OkSchema, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { deriveExpectations } from './derive-expectations.ts'
import { ExpectationSchema } from './expectation.ts'
import { conditionEventOf } from './match-expectations.ts'
import type { RunFiles } from './run-files.ts'
import { ReportListSchema, RUN_STATUSES, RunDetailSchema, RunSchema, type Share, withoutNulls } from './run-schema.ts'
import type { RunFacts } from './run-store.ts'
import { cancelRun, endedRuns, factsOf, findRun, listRuns, shownRun } from './run-store.ts'

export interface RunRouteDeps {
  db: Db
  clock: Clock
  files: RunFiles
  /** Stops the browser of a cancelled run. */
  stop(runId: string): void
  privacyOf(orgId: string): Privacy
  /** Returns the public links of runs, including revoked ones. */
  sharesOf(orgId: string, runIds: readonly string[]): ReadonlyMap<string, readonly Share[]>
}

const tag = 'Flow tests'
/** Maximum number of reports in a response. */
const MAX_REPORTS = 100

const RunList = Closed({ runs: Type.Array(RunSchema), nextCursor: NextCursorSchema }, { $id: 'RunList' })

const RunExpectations = Closed(
  { expectations: Type.Array(ExpectationSchema) },
  {
    $id: 'RunExpectations',
    examples: [{ expectations: [{ step: 1, vendor: 'Google Analytics 4', event: 'add_to_cart' }] }],
  },
)

/** Schema of the HAR. The HAR is returned directly from its file without being parsed. */
const HarText = Type.Unsafe<Blob>(
  Type.Object({ log: Type.Object({}) }, { $id: 'Har', examples: [{ log: { version: '1.2', entries: [] } }] }),
)
const Png = Type.Unsafe<Blob>(Type.String({ contentMediaType: 'image/png', examples: ['\u0089PNG'] }))

const ByStep = Closed({ id: Type.String({ maxLength: 100 }), index: Type.String({ maxLength: 10 }) })

/** Returns the routes under `/v1/flows/runs` and `/v1/flows/reports`. */
export function runRoutes(parts: RunRouteDeps): Route[] {
  return [...listingRoutes(parts), ...detailRoutes(parts), cancelRoute(parts), ...fileRoutes(parts)]
}

function listingRoutes({ db, privacyOf, sharesOf }: RunRouteDeps): Route[] {
  return [
    route({
      id: 'listRuns',
      method: 'GET',
      path: '/v1/flows/runs',
      access: 'read',
      tag,
      summary: 'List runs of flow tests, newest first',
      tool: true,
      query: Closed({
        testId: Type.Optional(Type.String({ maxLength: 100 })),
        status: Type.Optional(OneOf(RUN_STATUSES)),
        ...pagingFields,
      }),
      answer: RunList,
      exports: 'runs',
      handle({ principal: { orgId }, query }) {
        const { items, nextCursor } = listRuns(db, orgId, query)
        return { runs: items.map((run) => maskedRun(shownRun(run), privacyOf(orgId))), nextCursor }
      },
    }),
    route({
      id: 'listFlowReports',
      method: 'GET',
      path: '/v1/flows/reports',
      access: 'read',
      tag,
      summary: 'List the 100 most recently finished runs, newest first, with a summary in words',
      tool: true,
      answer: ReportListSchema,
      exports: 'reports',
      handle({ principal: { orgId } }) {
        const runs = endedRuns(db, orgId, MAX_REPORTS)
        const privacy = privacyOf(orgId)
        const runIds = runs.map(({ id }) => id)
        const shares = sharesOf(orgId, runIds)
        const reports = runs.map(({ testName, ...run }) => ({
          run: withoutNulls(maskedRun(shownRun(run), privacy)),
          testName: maskPersonal(testName, '', privacy),
          headline: maskPersonal(run.headline, '', privacy),
          shares: (shares.get(run.id) ?? []).map(withoutNulls),
        }))
        return { reports }
      },
    }),
  ]
}

/** Masks personal data in the error, which may contain text from the browser. */
function maskedRun<R extends { error: string | null }>(run: R, privacy: Privacy): R {
  return run.error === null ? run : { ...run, error: maskPersonal(run.error, '', privacy) }
}

function detailRoutes({ db, files, privacyOf, sharesOf }: RunRouteDeps): Route[] {
  return [
    route({
      id: 'getRun',
      method: 'GET',
      path: '/v1/flows/runs/{id}',
      access: 'read',
      tag,
      summary: 'Get a run with its steps, events and findings; personal data is masked',
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
          ...maskedRun(shownRun(run), privacy),
          attempts: run.attempts,
          steps: steps.map((step) => ({ ...step, screenshot: step.screenshot && shots.has(step.index) })),
          findings,
          events,
          errors,
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
      summary: 'Get expectations that match the events of a passed run',
      refusals: ['conflict'],
      tool: true,
      params: ById,
      answer: RunExpectations,
      handle({ principal: { orgId }, params: { id } }) {
        const { status } = findRun(db, { orgId, id })
        if (status !== 'passed')
          throw new AppError('conflict', 'expectations can be derived only from a run that passed')
        return { expectations: deriveExpectations(factsOf(db, id).events, privacyOf(orgId)) }
      },
    }),
  ]
}

function cancelRoute({ db, clock, stop }: RunRouteDeps): Route {
  return route({
    id: 'cancelRun',
    method: 'POST',
    path: '/v1/flows/runs/{id}/cancel',
    access: 'edit',
    tag,
    summary: 'Cancel a queued or running run; its browser closes immediately',
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

function fileRoutes({ db, files }: RunRouteDeps): Route[] {
  return [
    route({
      id: 'getRunHar',
      method: 'GET',
      path: '/v1/flows/runs/{id}/har',
      access: 'seePersonal',
      tag,
      summary: 'Get all requests of a run as a HAR 1.2 file, with secrets masked',
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
      summary:
        'Get the screenshot of the page after a step: a PNG in which personal data and secrets in text and fields are covered',
      params: ByStep,
      produces: 'image/png',
      answer: Png,
      handle({ principal: { orgId }, params: { id, index } }) {
        findRun(db, { orgId, id })
        if (!/^\d{1,3}$/.test(index)) throw new AppError('notFound', 'the run has no such step')
        return files.screenshot(id, Number(index))
      },
    }),
  ]
}

/** Returns the results of a run with personal data masked in the same way as in sample events. */
function maskedFacts({ steps, findings, events, errors }: RunFacts, privacy: Privacy) {
  const mask = (text: string) => maskPersonal(text, '', privacy)
  const orNull = (text: string | null) => (text === null ? null : mask(text))
  const maskEvent = compileMask([], privacy)
  return {
    steps: steps.map((step) => ({
      ...step,
      title: mask(step.title),
      error: orNull(step.error),
      healed: step.healed && { before: mask(step.healed.before), after: mask(step.healed.after) },
    })),
    findings: findings.map((finding) => ({
      ...finding,
      vendor: orNull(finding.vendor),
      event: orNull(finding.event),
      sentence: mask(finding.sentence),
      expected: orNull(finding.expected),
      observed: orNull(finding.observed),
    })),
    events: events.map((event) => {
      const { vendor, event: name, account, host, path, params } = maskEvent(conditionEventOf(event))
      return { ...event, vendor, event: name, account, host, path, params }
    }),
    errors: errors.map(mask),
  }
}
