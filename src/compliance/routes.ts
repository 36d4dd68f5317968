import { FINDING_ACTIONS, type FindingAction } from '../contract/statuses.ts'
import { AppError } from '../core/error.ts'
import { Closed, InstantSchema, Int, OneOf, type Static, Text, Type } from '../core/schema.ts'
import { domainIdsNamed } from '../domains/project-store.ts'
import { DEFAULT_LIMIT, decodeCursor, NextCursorSchema, page, pagingFields } from '../http/paging.ts'
import type { Principal } from '../http/principal.ts'
import { type Route, route } from '../http/route.ts'
import { type Db, tx } from '../store/database.ts'
import { FindingSchema } from './compliance-finding.ts'
import { type FilingDeps, fileFindings } from './file-findings-as-issues.ts'
import {
  decide,
  type FindingFilter,
  GROUPINGS,
  groupFindings,
  listFindings,
  MAX_GROUPS,
  requireFindings,
  type StoredFinding,
} from './store.ts'

const tag = 'Compliance'

const filterFields = {
  domainId: Type.Optional(Type.String({ maxLength: 100, description: 'Only findings in this domain' })),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: 'Only findings in domains of this project' })),
  vendor: Type.Optional(Type.String({ maxLength: 200, description: 'Only this vendor, exact name' })),
  kind: Type.Optional(Type.String({ maxLength: 40, description: 'Only this kind' })),
  action: Type.Optional(OneOf(FINDING_ACTIONS, { description: 'Only findings with this action' })),
  page: Type.Optional(
    Type.String({ maxLength: 200, description: 'Only findings seen on this page; empty: those without a known page' }),
  ),
  q: Type.Optional(
    Type.String({
      maxLength: 200,
      description: 'Text in the vendor, key, example, note or a page; not case-sensitive',
    }),
  ),
}
const ListQuery = Closed({ ...filterFields, ...pagingFields })
const GroupQuery = Closed({
  by: OneOf(GROUPINGS, { description: 'Property by which findings are grouped' }),
  ...filterFields,
})

const GroupList = Closed(
  {
    groups: Type.Array(
      Closed({
        value: Type.String({ description: 'Vendor, page or kind; empty for findings without a known page' }),
        findings: Int(),
        undecided: Int({ description: 'Findings with the action `watch`' }),
        lastSeenAt: InstantSchema,
      }),
      { description: `At most ${MAX_GROUPS}, those with most undecided findings first` },
    ),
  },
  {
    $id: 'ComplianceGroupList',
    examples: [{ groups: [{ value: 'Google Analytics 4', findings: 3, undecided: 2, lastSeenAt: 1_767_616_200_000 }] }],
  },
)

/** Maximum number of findings in a bulk decision. */
const MAX_DECISIONS = 200
const BulkInputSchema = Closed(
  {
    action: OneOf(FINDING_ACTIONS),
    note: Type.Optional(Type.String({ maxLength: 2000, description: 'Reason; when omitted, notes are unchanged' })),
    findings: Type.Array(
      Closed({
        vendor: Type.String({ maxLength: 200 }),
        key: Text(1, 300),
        kind: Type.String({ maxLength: 40 }),
      }),
      { minItems: 1, maxItems: MAX_DECISIONS },
    ),
  },
  {
    $id: 'ComplianceBulkInput',
    examples: [{ action: 'ignore', findings: [{ vendor: 'Google Analytics 4', key: 'ep.user_name', kind: 'email' }] }],
  },
)
const BulkResultSchema = Closed(
  {
    updated: Int(),
    failed: Int(),
    errors: Type.Array(Closed({ index: Int(), error: Type.String() }), {
      description: 'Findings that could not be changed, by their index in `findings`',
    }),
  },
  { $id: 'ComplianceBulkResult', examples: [{ updated: 1, failed: 0, errors: [] }] },
)

const FindingListSchema = Closed(
  { findings: Type.Array(FindingSchema), nextCursor: NextCursorSchema },
  { $id: 'ComplianceFindingList' },
)

const ActionInputSchema = Closed(
  {
    action: OneOf(FINDING_ACTIONS, {
      description: '`file`: open an issue; `ignore`: accept the finding; `watch`: return to the initial state',
    }),
    vendor: Type.String({ maxLength: 200, description: 'Vendor of the finding, as in the list' }),
    key: Text(1, 300, { description: 'Key of the finding, as in the list' }),
    kind: Type.Optional(Type.String({ maxLength: 40, description: 'Default: all kinds of findings for the key' })),
    note: Type.Optional(Type.String({ maxLength: 2000, description: 'Reason; when omitted, the note is unchanged' })),
  },
  {
    $id: 'ComplianceActionInput',
    examples: [{ action: 'file', vendor: 'Google Analytics 4', key: 'ep.user_name', kind: 'email' }],
  },
)

const ActionResultSchema = Closed(
  { ok: Type.Boolean(), issueId: Type.Optional(Type.String({ description: 'Issue opened by `file`' })) },
  { $id: 'ComplianceActionResult', examples: [{ ok: true, issueId: 'iss_01ke7k3h20x6b4n8r1t9v5c7zd' }] },
)

/** Routes for findings about personal data and consent, and for decisions about these findings. */
export function complianceRoutes(parts: FilingDeps): Route[] {
  return [
    listRoute(parts, {
      id: 'listPersonalData',
      path: '/v1/compliance/pii',
      summary: 'List findings of personal data sent to vendors, most recently seen first',
      consent: false,
    }),
    listRoute(parts, {
      id: 'listConsentFindings',
      path: '/v1/compliance/consent',
      summary: 'List consent findings, most recently seen first',
      consent: true,
    }),
    listRoute(parts, {
      id: 'listFindings',
      path: '/v1/compliance/findings',
      summary: 'List all findings, most recently seen first',
      consent: null,
    }),
    route({
      id: 'groupFindings',
      method: 'GET',
      path: '/v1/compliance/groups',
      access: 'read',
      tag,
      summary: 'Count all findings by vendor, page or kind',
      description: 'A finding that was seen on several pages is counted for each of them.',
      refusals: ['notFound'],
      query: GroupQuery,
      answer: GroupList,
      handle: ({ principal: { orgId }, query }) => ({
        groups: groupFindings(parts.db, filterOf(parts.db, orgId, query), query.by),
      }),
    }),
    actionRoute(parts),
    route({
      id: 'decideFindings',
      method: 'POST',
      path: '/v1/compliance/findings/bulk',
      access: 'edit',
      tag,
      summary: 'File, ignore or watch several findings',
      description: 'Each finding is changed independently: those that cannot be changed are listed in `errors`.',
      body: BulkInputSchema,
      answer: BulkResultSchema,
      handle: ({ principal, body }) => actOnAll(parts, principal, body),
    }),
  ]
}

function listRoute(
  { db }: FilingDeps,
  { consent, ...names }: { id: string; path: string; summary: string; consent: boolean | null },
): Route {
  return route({
    ...names,
    method: 'GET',
    access: 'read',
    tag,
    description:
      'One finding for each vendor, key and kind. `/docs/use/compliance` describes how each kind is detected.',
    refusals: ['notFound'],
    tool: consent !== null,
    query: ListQuery,
    answer: FindingListSchema,
    exports: 'findings',
    handle({ principal: { orgId }, query }) {
      const { cursor, limit = DEFAULT_LIMIT } = query
      const [lastSeenAt, id] = decodeCursor(cursor, 2) ?? []
      const after = cursor === undefined ? null : ([Number(lastSeenAt), Number(id)] as const)
      const filter = { ...filterOf(db, orgId, query), consent }
      const { items, nextCursor } = page(listFindings(db, filter, { limit: limit + 1, after }), limit, placeOf)
      return { findings: items.map(shown), nextCursor }
    },
  })
}

type FilterQuery = Partial<Record<'domainId' | 'projectId' | 'vendor' | 'kind' | 'page' | 'q', string>> & {
  action?: FindingAction
}

function filterOf(db: Db, orgId: string, query: FilterQuery): FindingFilter {
  const { vendor = null, kind = null, action = null, page = null, q = null } = query
  return { orgId, consent: null, domainIds: domainIdsNamed(db, orgId, query), vendor, key: null, kind, action, page, q }
}

const placeOf = ({ lastSeenAt, id }: StoredFinding) => [lastSeenAt, id]
const shown = ({ id, alertId, ...finding }: StoredFinding) => finding

function actionRoute(parts: FilingDeps): Route {
  return route({
    id: 'decideFinding',
    method: 'POST',
    path: '/v1/compliance/pii/action',
    access: 'edit',
    tag,
    summary: 'File, ignore or watch a finding',
    description:
      '`file` creates a visible validation alert for this vendor and key, which evaluates future events, and returns its ' +
      'issue. While that issue is unresolved, filing again returns the same issue.',
    refusals: ['notFound', 'conflict'],
    tool: true,
    body: ActionInputSchema,
    answer: ActionResultSchema,
    handle({ principal, body: { action, kind = null, ...rest } }) {
      return act(parts, principal, { ...rest, kind, action })
    },
  })
}

interface Decision {
  action: FindingAction
  vendor: string
  key: string
  kind: string | null
  note?: string
}

function act(parts: FilingDeps, { orgId, userId }: Principal, { action, ...about }: Decision) {
  if (action === 'file') return { ok: true, issueId: fileFindings(parts, { orgId, userId, ...about }) }
  const { note } = about
  const findings = requireFindings(parts.db, { orgId, ...about })
  decide(parts.db, findings, { action, ...(note === undefined ? {} : { note }) })
  return { ok: true }
}

/** Acts on each finding in its own nested transaction, so that a finding that fails changes nothing. */
function actOnAll(parts: FilingDeps, principal: Principal, { findings, ...rest }: Static<typeof BulkInputSchema>) {
  const errors = findings.flatMap((finding, index) => {
    try {
      tx(parts.db, () => act(parts, principal, { ...finding, ...rest }))
      return []
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      return [{ index, error: error.message }]
    }
  })
  return { updated: findings.length - errors.length, failed: errors.length, errors }
}
