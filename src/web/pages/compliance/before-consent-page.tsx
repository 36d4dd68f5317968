import { Anchor, Paper, Stack, Switch, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { getVendorsBeforeConsentOptions } from '#client/@tanstack/react-query.gen'
import type { VendorsBeforeConsent } from '#client/types.gen'
import { MAX_HOURS } from '../../../contract/limits.ts'
import { PAGE_PATHS } from '../../../contract/page-paths.ts'
import { STALE_MS, sharedQueries } from '../../api/queries.ts'
import { AddDomainNotice } from '../../components/add-domain-notice.tsx'
import { busiestFirst } from '../../components/busiest-first.ts'
import { Data } from '../../components/data-text.tsx'
import { FilterBar } from '../../components/filter-bar.tsx'
import { formatMoment } from '../../components/format.ts'
import { Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { type SimpleColumn, SimpleTable } from '../../components/simple-table.tsx'
import { TimeAgo } from '../../components/time-ago.tsx'
import { useTimeZone } from '../../components/use-time-zone.ts'
import { messages } from '../../messages.ts'
import { useSearchParams, useSharedParams } from '../../url-state/use-search-params.ts'
import { ComplianceLinks } from './compliance-links.tsx'
import { BEFORE_CONSENT } from './queries.ts'

type Vendor = VendorsBeforeConsent['vendors'][number]
type Counts = Pick<Vendor, 'before' | 'afterRefusal' | 'afterAcceptance'>

const HOUR_MS = 3_600_000
const HOURS = { '24h': 24, '3d': 72, '7d': 168, '30d': 720 } as const

/** `/compliance/before-consent`: vendors to which requests were sent, by the consent in force. */
export function BeforeConsentPage() {
  const domains = useQuery(sharedQueries.domains())
  const t = messages.beforeConsent
  return (
    <>
      <PageHeader title={t.title} />
      <ComplianceLinks here="before-consent" />
      <Text c="dimmed" mb="md" maw="72ch">
        {t.about}
      </Text>
      <QueryState
        query={domains}
        isEmpty={({ domains }) => domains.length === 0}
        empty={<AddDomainNotice sentence={t.noDomains} />}
      >
        {({ domains }) => <OfDomain domains={busiestFirst(domains)} />}
      </QueryState>
    </>
  )
}

function OfDomain({ domains }: { domains: readonly { id: string; name: string }[] }) {
  const [values, set] = useSearchParams(BEFORE_CONSENT)
  const [{ range, from }] = useSharedParams()
  const zone = useTimeZone()
  const t = messages.beforeConsent
  const domainId = values.domainId || (domains[0]?.id ?? '')
  const now = Date.now()
  const hours = from ? Math.min(MAX_HOURS.comparison, Math.max(1, Math.ceil((now - from) / HOUR_MS))) : HOURS[range]
  const query = useQuery({
    ...getVendorsBeforeConsentOptions({ query: { domainId, hours } }),
    staleTime: STALE_MS.insight,
    placeholderData: keepPreviousData,
  })
  const isAll = values.show === 'all'
  return (
    <>
      <FilterBar
        fields={BEFORE_CONSENT}
        filters={[
          {
            is: 'one',
            name: 'domainId',
            label: t.domain,
            options: domains.map(({ id, name }) => ({ value: id, label: name })),
          },
        ]}
      />
      <Text c="dimmed" fz="sm" mb="md">
        {t.covers(formatMoment(now - hours * HOUR_MS, zone), formatMoment(now, zone))} {t.cookiesNote}
      </Text>
      <Switch
        mb="md"
        label={t.showAccepted}
        checked={isAll}
        onChange={({ currentTarget }) => set({ show: currentTarget.checked ? 'all' : null })}
      />
      <QueryState query={query} isEmpty={({ vendors }) => vendors.length === 0} empty={<Text>{t.none}</Text>}>
        {({ vendors }) => {
          const shown = isAll ? vendors : vendors.filter(({ before, afterRefusal }) => before + afterRefusal > 0)
          if (shown.length === 0) return <Text>{t.noneWithout}</Text>
          return (
            <Stack gap="lg">
              <Vendors vendors={shown} />
              {shown.map((vendor) => (
                <Details key={keyOf(vendor)} vendor={vendor} domainId={domainId} hours={hours} />
              ))}
            </Stack>
          )
        }}
      </QueryState>
    </>
  )
}

const keyOf = ({ vendor, host }: Vendor) => JSON.stringify([vendor, host])
const nameOf = ({ vendor, host }: Vendor) => (host === null ? vendor : `${vendor}, ${host}`)

/** Columns with the counts by choice. */
function countColumns<T extends Counts>(): SimpleColumn<T>[] {
  const t = messages.beforeConsent
  return (['before', 'afterRefusal', 'afterAcceptance'] as const).map((name) => ({
    head: t[name],
    isNumber: true,
    cell: (row) => <Num value={row[name]} />,
  }))
}

function Vendors({ vendors }: { vendors: readonly Vendor[] }) {
  const t = messages.beforeConsent
  return (
    <Paper>
      <SimpleTable
        name={t.title}
        rows={vendors}
        keyOf={keyOf}
        columns={[
          { head: t.vendor, cell: ({ vendor }) => <Data>{vendor}</Data> },
          { head: t.host, cell: ({ host }) => <Data>{host ?? '–'}</Data> },
          ...countColumns<Vendor>(),
          { head: t.cookies, cell: ({ cookies }) => <Data>{cookies.map(({ name }) => name).join(', ') || '–'}</Data> },
          { head: t.firstSeen, cell: ({ firstSeenAt }) => <TimeAgo at={firstSeenAt} /> },
        ]}
      />
    </Paper>
  )
}

/** Pages, cookies and request hosts of a vendor. */
function Details({ vendor, domainId, hours }: { vendor: Vendor; domainId: string; hours: number }) {
  const t = messages.beforeConsent
  const { pages, cookies, requestHosts } = vendor
  const to = Math.ceil(Date.now() / 60_000) * 60_000
  const search = { domainId, vendor: vendor.vendor, from: to - hours * HOUR_MS, to }
  return (
    <Paper component="section">
      <Title order={2} mb="sm">
        <Data>{nameOf(vendor)}</Data>
      </Title>
      {requestHosts.length > 0 && (
        <Text fz="sm" mb="sm">
          {t.requestHosts} <Data>{requestHosts.join(', ')}</Data>
        </Text>
      )}
      <SimpleTable
        name={t.pagesOf(nameOf(vendor))}
        rows={pages}
        keyOf={({ path }) => path}
        columns={[
          {
            head: t.page,
            cell: ({ path }) => (
              <Anchor
                component={Link}
                to={PAGE_PATHS.explore.events}
                search={{ ...search, param: `$path=${path}` } as never}
              >
                <Data>{path || '–'}</Data>
              </Anchor>
            ),
          },
          { head: t.all, isNumber: true, cell: ({ count }) => <Num value={count} /> },
          ...countColumns<Vendor['pages'][number]>(),
        ]}
      />
      {cookies.length > 0 && (
        <SimpleTable
          name={t.cookiesOf(nameOf(vendor))}
          rows={cookies}
          keyOf={({ name }) => name}
          columns={[
            { head: t.cookie, cell: ({ name }) => <Data>{name}</Data> },
            ...countColumns<Vendor['cookies'][number]>(),
          ]}
        />
      )}
    </Paper>
  )
}
