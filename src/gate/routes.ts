import { findChange } from '../changes/store.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import type { Clock } from '../core/clock.ts'
import { AppError } from '../core/error.ts'
import { Closed, OneOf, Type } from '../core/schema.ts'
import { hasDomain } from '../domains/store.ts'
import { NextCursorSchema, pagingFields } from '../http/paging.ts'
import { ById, type Route, route } from '../http/route.ts'
import type { Db } from '../store/database.ts'
import { GATE_STATUSES, GateRunSchema, GateRunSummarySchema } from './gate-run.ts'
import { type GateReport, GateReportSchema } from './report.ts'
import {
  approveGateRun,
  findGateRun,
  gateRunsOf,
  listGateRuns,
  maskedGateRun,
  maskedSummary,
  storeGateRun,
} from './store.ts'

export interface GateRouteDeps {
  db: Db
  clock: Clock
  /** Returns the privacy settings of the organization. */
  privacyOf(orgId: string): Privacy
}

const tag = 'Release gate'
/** A report with the maximum number of findings, checks and events. */
const MAX_REPORT_BYTES = 4 * 1024 * 1024

const GateRunList = Closed(
  { runs: Type.Array(GateRunSummarySchema), nextCursor: NextCursorSchema },
  { $id: 'GateRunList' },
)

const ListQuery = Closed({
  name: Type.Optional(Type.String({ maxLength: 100 })),
  ref: Type.Optional(Type.String({ maxLength: 200 })),
  domainId: Type.Optional(Type.String({ maxLength: 100 })),
  status: Type.Optional(OneOf(GATE_STATUSES)),
  approved: Type.Optional(Type.Boolean({ description: 'True: only runs that are approved as a baseline' })),
  changeId: Type.Optional(
    Type.String({ maxLength: 100, description: 'Only the latest run for the release that this change describes' }),
  ),
  ...pagingFields,
})

const ApprovalInput = Closed(
  { approved: Type.Optional(Type.Boolean({ default: true, description: 'False withdraws the approval' })) },
  { $id: 'GateApprovalInput', examples: [{ approved: true }] },
)

/** Routes for the runs of the release gate, which `tagwarden verify` reports. */
export function gateRoutes({ db, clock, privacyOf }: GateRouteDeps): Route[] {
  return [
    route({
      id: 'listGateRuns',
      method: 'GET',
      path: '/v1/gate-runs',
      access: 'read',
      tag,
      summary: 'List runs of the release gate, newest first',
      refusals: ['notFound'],
      query: ListQuery,
      answer: GateRunList,
      exports: 'runs',
      handle({ principal: { orgId }, query: { changeId, ...query } }) {
        const privacy = privacyOf(orgId)
        const { items, nextCursor } =
          changeId === undefined ? listGateRuns(db, orgId, query) : { items: runOfChange(changeId), nextCursor: null }
        return { runs: items.map((run) => maskedSummary(run, privacy)), nextCursor }

        function runOfChange(id: string) {
          const change = findChange(db, { orgId, id })
          if (!change) throw new AppError('notFound', 'changeId: no such change')
          const run = gateRunsOf(db, orgId, [change]).get(id)
          return run ? [run] : []
        }
      },
    }),
    route({
      id: 'getGateRun',
      method: 'GET',
      path: '/v1/gate-runs/{id}',
      access: 'read',
      tag,
      summary: 'Get a run of the release gate with its report',
      params: ById,
      answer: GateRunSchema,
      handle: ({ principal: { orgId }, params: { id } }) =>
        maskedGateRun(findGateRun(db, { orgId, id }), privacyOf(orgId)),
    }),
    route({
      id: 'createGateRun',
      method: 'POST',
      path: '/v1/gate-runs',
      access: 'edit',
      tag,
      summary: 'Store the report of a run of the release gate',
      description:
        '`tagwarden verify --url --key` does this. The latest 1,000 runs and all approved ones are kept, for 400 days.',
      refusals: ['notFound'],
      maxBodyBytes: MAX_REPORT_BYTES,
      body: GateReportSchema,
      status: 201,
      answer: GateRunSchema,
      handle({ principal: { orgId }, body }) {
        checkReport(body)
        const { domainId } = body
        if (domainId !== null && !hasDomain(db, { orgId, id: domainId })) {
          throw new AppError('notFound', 'domainId: no such domain')
        }
        return maskedGateRun(storeGateRun(db, orgId, body, clock.now()), privacyOf(orgId))
      },
    }),
    route({
      id: 'approveGateRun',
      method: 'POST',
      path: '/v1/gate-runs/{id}/approve',
      access: 'edit',
      tag,
      summary: 'Approve a run of the release gate as the baseline of later runs',
      description: '409 when the run violates other checks than the comparison with its own baseline.',
      refusals: ['conflict'],
      params: ById,
      bodyOptional: true,
      body: ApprovalInput,
      answer: GateRunSchema,
      handle({ principal: { orgId, userId }, params: { id }, body: { approved = true } }) {
        const run = approveGateRun(db, { orgId, id }, { approved, by: userId, now: clock.now() })
        return maskedGateRun(run, privacyOf(orgId))
      },
    }),
  ]
}

/** Throws `invalid` for a finding without a check. */
function checkReport({ findings, checks }: GateReport): void {
  const at = findings.findIndex(({ check }) => check < 0 || check >= checks.length)
  if (at >= 0) throw new AppError('invalid', `findings[${at}].check: there is no such check`)
}
