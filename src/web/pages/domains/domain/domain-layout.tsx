import { Anchor, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { getDomainOptions } from '#client/@tanstack/react-query.gen'
import type { Domain } from '#client/types.gen'
import { PAGE_PATHS } from '../../../../contract/page-paths.ts'
import { Breadcrumb } from '../../../components/breadcrumb.tsx'
import { ManagedNotice } from '../../../components/managed-by.tsx'
import { NotFoundNotice } from '../../../components/not-found-notice.tsx'
import { Num } from '../../../components/numbers.tsx'
import { PageHeader } from '../../../components/page-header.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { TabLinks } from '../../../components/tab-links.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { DomainStatus } from '../domain-status.tsx'

export type DomainPart = keyof typeof messages.domains.tabs
const PARTS: readonly DomainPart[] = ['item', 'setup', 'live', 'hostnames', 'vendors', 'sampling', 'settings']

const MINUTE_MS = 60_000
/** Polling interval until the first events have been counted. */
const COUNT_INTERVAL_MS = 2000

/** The id of the domain in the URL. */
export const useDomainId = (): string => useParams({ strict: false }).id ?? ''

/** The heading of a domain, its status, and links to its pages; `part` is the current page. */
export function DomainLayout({ part, children }: { part: DomainPart; children(domain: Domain): ReactNode }) {
  const id = useDomainId()
  const query = useQuery({
    ...getDomainOptions({ path: { id } }),
    // The stream reports the first event at once, but events are counted a few seconds later.
    refetchInterval: ({ state: { data } }) => (data && isUncounted(data) ? COUNT_INTERVAL_MS : false),
  })
  const gone = (
    <NotFoundNotice sentence={messages.domains.notFound}>
      <Link to="/domains">{messages.domains.toList}</Link>
    </NotFoundNotice>
  )
  return (
    <QueryState query={query} title={messages.shell.pages.domains} notFound={gone}>
      {(domain) => (
        <>
          <PageHeader
            title={domain.name}
            isData
            above={<Breadcrumb to="/domains">{messages.shell.pages.domains}</Breadcrumb>}
          />
          <Health domain={domain} />
          <ManagedNotice managedBy={domain.managedBy} />
          <TabLinks
            name={messages.domains.list}
            links={PARTS.map((one) => ({
              key: one,
              label: messages.domains.tabs[one],
              isHere: one === part,
              link: { to: PAGE_PATHS.domains[one], params: { id } },
            }))}
          />
          {children(domain)}
        </>
      )}
    </QueryState>
  )
}

/** True while the domain's first events have not been counted. */
const isUncounted = ({ events24h, lastEventAt }: Domain) =>
  !events24h && lastEventAt !== null && lastEventAt !== undefined && Date.now() - lastEventAt < MINUTE_MS

function Health({ domain }: { domain: Domain }) {
  const { events24h, lastEventAt, prodVersion } = domain
  const t = messages.domains
  return (
    <Group gap="md" mb="md" c="dimmed" fz="sm">
      <DomainStatus {...domain} />
      <span>
        <Anchor
          component={Link}
          to="/explore/events"
          search={{ domainId: domain.id } as never}
          fz="sm"
          underline="always"
        >
          {isUncounted(domain) ? t.counting : <Num value={events24h} />}
        </Anchor>{' '}
        {!isUncounted(domain) && t.eventsIn24h(events24h ?? null)}
      </span>
      <span>
        {t.lastEvent} <TimeAgo at={lastEventAt} missing={messages.displayNames.never} />
      </span>
      {typeof prodVersion === 'number' && (
        <span>
          {t.version} <Num value={prodVersion} />
        </span>
      )}
    </Group>
  )
}
