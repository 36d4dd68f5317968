import { Anchor, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import {
  getConsentSharesOptions,
  getEventDictionaryOptions,
  getScoresOptions,
  listChangesOptions,
  listIssuesOptions,
} from '#client/@tanstack/react-query.gen'
import type { Domain } from '#client/types.gen'
import { STALE_MS } from '../../../api/queries.ts'
import { Card } from '../../../components/card.tsx'
import { Data } from '../../../components/data-text.tsx'
import { IssueTitle } from '../../../components/issue-title.tsx'
import { Num, Pct } from '../../../components/numbers.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { SeverityMark } from '../../../components/severity-mark.tsx'
import { StatusMark } from '../../../components/status-mark.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { CHANGE_MARKS } from '../../changes/status-marks.ts'
import { Volume } from '../../overview/volume-card.tsx'
import { DomainLayout } from './domain-layout.tsx'
import classes from './domain-summary-page.module.css'

const HOURS = 24
const SHOWN_ISSUES = 5
const SHOWN_VENDORS = 8

const SCORE_NAMES = ['availability', 'accuracy', 'compliance'] as const

/** The queries of the cards. */
const summaryQueries = (domainId: string) => ({
  scores: { ...getScoresOptions({ query: { domainId } }), staleTime: STALE_MS.insight },
  issues: listIssuesOptions({ query: { domainId: [domainId], status: ['open', 'acknowledged'], limit: SHOWN_ISSUES } }),
  vendors: {
    ...getEventDictionaryOptions({ query: { domainId, hours: HOURS } }),
    staleTime: STALE_MS.dictionary,
  },
  consent: { ...getConsentSharesOptions({ query: { domainId, hours: HOURS } }), staleTime: STALE_MS.insight },
  changes: listChangesOptions({ query: { domainId, limit: 1 } }),
})

/** `/domains/{id}`: the state of a domain at a glance. */
export function DomainSummaryPage() {
  return <DomainLayout part="item">{(domain) => <Summary domain={domain} />}</DomainLayout>
}

function Summary({ domain }: { domain: Domain }) {
  if (!domain.lastEventAt) return <NoEventsYet domain={domain} />
  return (
    <Stack gap="lg">
      <Card title={messages.overview.volumeTitle}>
        <Volume project="" domain={domain} />
      </Card>
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
        <OpenIssues domainId={domain.id} />
        <Scores domainId={domain.id} />
        <Vendors domainId={domain.id} />
        <Stack gap="lg">
          <Consent domainId={domain.id} />
          <LastChange domainId={domain.id} />
        </Stack>
      </SimpleGrid>
    </Stack>
  )
}

function NoEventsYet({ domain }: { domain: Domain }) {
  const t = messages.domains.summary
  return (
    <Stack gap="sm" align="flex-start">
      <Text>{t.noEvents}</Text>
      <Anchor component={Link} to={`/domains/${domain.id}/setup`} underline="always">
        {t.toSetup}
      </Anchor>
    </Stack>
  )
}

function OpenIssues({ domainId }: { domainId: string }) {
  const query = useQuery(summaryQueries(domainId).issues)
  const t = messages.domains.summary
  const all = (
    <Anchor component={Link} to="/issues" search={{ domainId: [domainId] } as never} fz="sm">
      {t.allIssues}
    </Anchor>
  )
  return (
    <Card title={t.issues} actions={all}>
      <QueryState query={query} isEmpty={({ issues }) => issues.length === 0} empty={<Text>{t.noIssues}</Text>}>
        {({ issues }) => (
          <ul className={classes.list}>
            {issues.map(({ id, title, severity, lastSeenAt }) => (
              <li key={id}>
                <SeverityMark severity={severity} isWordShown={false} />
                <div className={classes.what}>
                  <Anchor component={Link} to={`/issues/${id}`}>
                    <IssueTitle title={title} />
                  </Anchor>
                  <div className="under">
                    <TimeAgo at={lastSeenAt} />
                  </div>
                </div>
              </li>
            ))}
          </ul>
        )}
      </QueryState>
    </Card>
  )
}

function Scores({ domainId }: { domainId: string }) {
  const query = useQuery(summaryQueries(domainId).scores)
  return (
    <Card title={messages.overview.scores} actions={<Period />}>
      <QueryState query={query}>
        {(scores) => (
          <ul className={classes.list}>
            {SCORE_NAMES.map((name) => (
              <li key={name}>
                <Text fz={20} fw={600} w={40} ta="end" component="div">
                  <Num value={scores[name].score} />
                </Text>
                <div className={classes.what}>
                  <Text fw={600}>{messages.overview.score[name]}</Text>
                  <Text fz="xs" c="dimmed">
                    <Data>{scores[name].detail}</Data>
                  </Text>
                </div>
              </li>
            ))}
          </ul>
        )}
      </QueryState>
    </Card>
  )
}

const Period = () => (
  <Text fz="sm" c="dimmed">
    {messages.domains.summary.period}
  </Text>
)

function Vendors({ domainId }: { domainId: string }) {
  const query = useQuery(summaryQueries(domainId).vendors)
  const t = messages.domains.summary
  return (
    <Card title={messages.domains.tabs.vendors} actions={<Period />}>
      <QueryState query={query} isEmpty={({ vendors }) => vendors.length === 0} empty={<Text>{t.noVendors}</Text>}>
        {({ vendors }) => (
          <ul className={classes.list}>
            {vendors.slice(0, SHOWN_VENDORS).map(({ vendor, events }) => (
              <li key={vendor}>
                <div className={classes.what}>
                  <Anchor component={Link} to="/explore/dictionary" search={{ domainId, vendor } as never}>
                    <Data>{vendor}</Data>
                  </Anchor>
                </div>
                <span>
                  <Num value={events} /> {t.events(events)}
                </span>
              </li>
            ))}
            {vendors.length > SHOWN_VENDORS && (
              <li>
                <Anchor component={Link} to={`/domains/${domainId}/vendors`}>
                  {t.allVendors(vendors.length)}
                </Anchor>
              </li>
            )}
          </ul>
        )}
      </QueryState>
    </Card>
  )
}

function Consent({ domainId }: { domainId: string }) {
  const query = useQuery(summaryQueries(domainId).consent)
  const t = messages.domains.summary
  return (
    <Card title={t.consent} actions={<Period />}>
      <QueryState query={query} isEmpty={({ events }) => events === 0} empty={<Text>{t.noVendors}</Text>}>
        {({ grantedShare, deniedShare, unknownShare }) => (
          <dl className="facts">
            {Object.entries({ granted: grantedShare, denied: deniedShare, unknown: unknownShare }).map(
              ([name, share]) => (
                <ConsentShare key={name} name={t.consents[name as keyof typeof t.consents]} share={share} />
              ),
            )}
          </dl>
        )}
      </QueryState>
    </Card>
  )
}

const ConsentShare = ({ name, share }: { name: string; share: number }) => (
  <>
    <dt>{name}</dt>
    <dd>
      <Pct value={share} />
    </dd>
  </>
)

function LastChange({ domainId }: { domainId: string }) {
  const query = useQuery(summaryQueries(domainId).changes)
  const t = messages.domains.summary
  return (
    <Card title={t.lastChange}>
      <QueryState
        query={query}
        isEmpty={({ changes }) => changes.length === 0}
        empty={<Text>{messages.overview.noChanges}</Text>}
      >
        {({ changes: [change] }) =>
          change && (
            <Group justify="space-between" gap="md" wrap="nowrap" align="flex-start">
              <div className={classes.what}>
                <Anchor component={Link} to={`/changes/${change.id}`}>
                  <Data>{change.title}</Data>
                </Anchor>
                <div className="under">
                  <TimeAgo at={change.occurredAt} />
                </div>
              </div>
              <StatusMark status={CHANGE_MARKS[change.status]} word={messages.changes.statuses[change.status]} />
            </Group>
          )
        }
      </QueryState>
    </Card>
  )
}
