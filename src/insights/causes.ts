import { SEVERITIES } from '../contract/severities.ts'
import type { Instant } from '../core/clock.ts'
import { Closed, InstantSchema, Nullable, OneOf, type Static, Type } from '../core/schema.ts'
import type { IssueRecord } from '../issues/issue.ts'
import { unresolvedIssues } from '../issues/list-issues.ts'
import { CAUSE_KINDS, causeSentence, causesOf, rungOf } from './determine-cause.ts'
import { factsOf } from './gather-cause-facts.ts'
import { insight, type Sources } from './insight.ts'
import { domainFields, domainsNamed } from './query-params.ts'

const CauseSchema = Closed({
  kind: OneOf(CAUSE_KINDS),
  title: Type.String(),
  detail: Type.String({ description: 'Number of issues and the reason why they have this cause, in one sentence' }),
  since: InstantSchema,
  domainId: Nullable(Type.String({ description: 'Domain of the issues; null when they belong to several' })),
  vendor: Nullable(Type.String()),
  changeId: Nullable(Type.String()),
  issueIds: Type.Array(Type.String(), { description: 'Open and acknowledged issues, oldest first' }),
  severity: OneOf(SEVERITIES, { description: 'Highest severity of the issues' }),
  impactValue: Type.Number({ description: 'Sum of the impact values of the issues' }),
})

const CauseListSchema = Closed(
  { causes: Type.Array(CauseSchema, { description: 'Most severe first' }) },
  {
    $id: 'CauseList',
    examples: [
      {
        causes: [
          {
            kind: 'release',
            title: 'Release 42',
            detail: '10 issues began in the watch window of this change.',
            since: 1_767_614_400_000,
            domainId: 'dom_01ke7jm2q0d3k8f1z6y5b7n4ta',
            vendor: null,
            changeId: 'chg_01ke7k0x4m8q2w6e9r3t5y7u1i',
            issueIds: ['iss_01ke7k3h20x6b4n8r1t9v5c7zd'],
            severity: 'high',
            impactValue: 12_000,
          },
        ],
      },
    ],
  },
)

/** The causes of open and acknowledged issues. Each issue has exactly one cause. */
export const causes = insight({
  id: 'listCauses',
  summary: 'List the probable causes of unresolved issues, each with its issues',
  description:
    'The first of these that applies to an issue: `pipeline` (this server could not collect events), `traffic` (all traffic of the domain ' +
    'dropped), `container` (the tag manager stopped), `consent`, `vendor` (in several domains, or its requests fail), ' +
    '`release` (in the watch window of a change), `tag` (none of these). `/docs/use/causes` describes each one.',
  path: '/insights/causes',
  isQuick: true,
  refusals: ['notFound', 'unavailable'],
  input: Closed(domainFields),
  output: CauseListSchema,
  exports: 'causes',
  async answer(sources, input, { principal: { orgId }, now }) {
    const named = domainsNamed(sources, orgId, input)
    const all = unresolvedIssues(sources.db, orgId)
    const issues = named === null ? all : all.filter(({ domainId }) => domainId !== null && named.includes(domainId))
    return { causes: causesOf(await factsOf(sources, orgId, issues, now, 'kept'), all) }
  },
})

export const IssueCauseSchema = Closed(
  { kind: OneOf(CAUSE_KINDS), title: Type.String(), changeId: Nullable(Type.String()) },
  { description: 'The probable cause, as in `GET /v1/insights/causes`; null unless it is open or acknowledged' },
)

export interface IssueCause {
  cause: Static<typeof IssueCauseSchema>
  /** The cause as a sentence; null when only the tag itself is known as the cause. */
  sentence: string | null
}

/** Returns the cause of one issue; null when it is neither open nor acknowledged. */
export async function causeOfIssue(
  sources: Pick<Sources, 'db' | 'history' | 'domains' | 'privacy'>,
  issue: IssueRecord,
  now: Instant,
): Promise<IssueCause | null> {
  if (issue.status !== 'open' && issue.status !== 'acknowledged') return null
  const [facts] = await factsOf(sources, issue.orgId, [issue], now)
  if (!facts) return null
  const vendor = issue.evidence?.vendor ?? null
  const peers = unresolvedIssues(sources.db, issue.orgId).filter(
    ({ evidence }) => (evidence?.vendor ?? null) === vendor,
  )
  const rung = rungOf(facts, peers)
  const { kind, title, changeId } = rung
  return { cause: { kind, title, changeId }, sentence: causeSentence(facts, rung) }
}
