import { FINDING_ACTIONS, type FindingAction } from '../contract/statuses.ts'
import { Closed, OneOf, Text, Type } from '../core/schema.ts'
import { domainIdsNamed } from '../domains/project-store.ts'
import { DEFAULT_LIMIT, decodeCursor, NextCursorSchema, page, pagingFields } from '../http/paging.ts'
import type { Principal } from '../http/principal.ts'
import { type Route, route } from '../http/route.ts'
import { FindingSchema } from './compliance-finding.ts'
import { type FilingDeps, fileFindings } from './file-findings-as-issues.ts'
import { decide, listFindings, requireFindings, type StoredFinding } from './store.ts'

const tag = 'Compliance'

const ListQuery = Closed({
  domainId: Type.Optional(Type.String({ maxLength: 100, description: 'Only findings in this domain' })),
  projectId: Type.Optional(Type.String({ maxLength: 100, description: 'Only findings in domains of this project' })),
  vendor: Type.Optional(Type.String({ maxLength: 200, description: 'Only this vendor, exact name' })),
  kind: Type.Optional(Type.String({ maxLength: 40, description: 'Only this kind' })),
  action: Type.Optional(OneOf(FINDING_ACTIONS, { description: 'Only findings with this action' })),
  ...pagingFields,
})

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
    actionRoute(parts),
  ]
}

function listRoute(
  { db }: FilingDeps,
  { consent, ...names }: { id: string; path: string; summary: string; consent: boolean },
): Route {
  return route({
    ...names,
    method: 'GET',
    access: 'read',
    tag,
    description:
      'One finding for each vendor, key and kind. `/docs/use/compliance` describes how each kind is detected.',
    refusals: ['notFound'],
    tool: true,
    query: ListQuery,
    answer: FindingListSchema,
    handle({ principal: { orgId }, query }) {
      const { cursor, limit = DEFAULT_LIMIT, vendor = null, kind = null, action = null } = query
      const domainIds = domainIdsNamed(db, orgId, query)
      const [lastSeenAt, id] = decodeCursor(cursor, 2) ?? []
      const after = cursor === undefined ? null : ([Number(lastSeenAt), Number(id)] as const)
      const filter = { orgId, consent, domainIds, vendor, key: null, kind, action }
      const { items, nextCursor } = page(listFindings(db, filter, { limit: limit + 1, after }), limit, placeOf)
      return { findings: items.map(shown), nextCursor }
    },
  })
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
