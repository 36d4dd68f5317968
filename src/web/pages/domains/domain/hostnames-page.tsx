import { Button, Group, Text } from '@mantine/core'
import { type QueryFilters, useInfiniteQuery } from '@tanstack/react-query'
import { listHostnamesInfiniteOptions } from '#client/@tanstack/react-query.gen'
import { judgeHostname } from '#client/sdk.gen'
import type { Hostname, HostnameList } from '#client/types.gen'
import { errorMessage } from '../../../api/api-error.ts'
import { PAGE_SIZE, updatePages } from '../../../api/pagination.ts'
import { queries } from '../../../api/queries.ts'
import { useHasRole } from '../../../api/whoami.ts'
import { Data } from '../../../components/data-text.tsx'
import { Num } from '../../../components/numbers.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { RoleNotice } from '../../../components/role-notice.tsx'
import { SimpleTable } from '../../../components/simple-table.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { notices } from '../../../state/notices.ts'
import { DomainLayout, useDomainId } from './domain-layout.tsx'

/** `/domains/{id}/hostnames`: approves or denies hosts that send events. */
export function DomainHostnamesPage() {
  return <DomainLayout part="hostnames">{() => <Hostnames />}</DomainLayout>
}

type Verdict = Exclude<Hostname['status'], 'unreviewed'>
/** Hosts that need a decision come first. */
const ORDER: Record<Hostname['status'], number> = { unreviewed: 0, denied: 1, approved: 2 }

function Hostnames() {
  const id = useDomainId()
  const may = useHasRole('member')
  const query = useInfiniteQuery(listHostnamesInfiniteOptions({ path: { id }, query: { limit: PAGE_SIZE } }))
  const judge = useJudge(id)
  const t = messages.domains.hostnames
  return (
    <>
      <RoleNotice needs="member" what={t.restrictedAction} />
      <Text c="dimmed" mb="md">
        {t.intro}
      </Text>
      <QueryState query={query} isEmpty={({ pages }) => pages[0]?.hostnames.length === 0} empty={<Text>{t.none}</Text>}>
        {({ pages }) => (
          <SimpleTable
            name={messages.domains.tabs.hostnames}
            rows={pages.flatMap(({ hostnames }) => hostnames.toSorted((a, b) => ORDER[a.status] - ORDER[b.status]))}
            pages={query}
            keyOf={({ hostname }) => hostname}
            columns={[
              { head: t.hostname, cell: ({ hostname }) => <Data>{hostname}</Data> },
              { head: t.status, cell: ({ status }) => t.statuses[status] },
              { head: messages.domains.events24h, isNumber: true, cell: ({ events24h }) => <Num value={events24h} /> },
              { head: messages.domains.lastEvent, cell: ({ lastSeenAt }) => <TimeAgo at={lastSeenAt} /> },
              {
                head: messages.settings.actions,
                isHeadHidden: true,
                cell: (host) => may && <Verdicts host={host} judge={judge} />,
              },
            ]}
          />
        )}
      </QueryState>
    </>
  )
}

type Judge = (host: Hostname, verdict: Verdict) => Promise<void>

function Verdicts({ host, judge }: { host: Hostname; judge: Judge }) {
  const t = messages.domains.hostnames
  const names = { approved: [t.approve, t.approveNamed], denied: [t.deny, t.denyNamed] } as const
  return (
    <Group gap="sm" justify="flex-end" wrap="nowrap">
      {(['approved', 'denied'] as const)
        .filter((verdict) => verdict !== host.status)
        .map((verdict) => (
          <Button
            key={verdict}
            size="compact-sm"
            variant="default"
            aria-label={names[verdict][1](host.hostname)}
            onClick={() => void judge(host, verdict)}
          >
            {names[verdict][0]}
          </Button>
        ))}
    </Group>
  )
}

/** Approves or denies a host optimistically, with undo. */
function useJudge(id: string): Judge {
  const t = messages.domains.hostnames
  const list = { queryKey: [{ _id: 'listHostnames', path: { id } }] } satisfies QueryFilters
  const show = (hostname: string, status: Hostname['status']) =>
    queries.setQueriesData(
      list,
      updatePages<HostnameList>((list) => ({
        ...list,
        hostnames: list.hostnames.map((one) => (one.hostname === hostname ? { ...one, status } : one)),
      })),
    )
  return async function judge(host, verdict) {
    const { hostname, status } = host
    show(hostname, verdict)
    try {
      await judgeHostname({ path: { id, hostname }, body: { status: verdict } })
      const undo = status === 'unreviewed' ? null : () => void judge({ ...host, status: verdict }, status)
      notices.say(verdict === 'approved' ? t.approved(hostname) : t.denied(hostname), undo)
    } catch (error) {
      show(hostname, status)
      notices.refuse(errorMessage(error), () => void judge(host, verdict))
    }
    await queries.invalidateQueries(list)
  }
}
