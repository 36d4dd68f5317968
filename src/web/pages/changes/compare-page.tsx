import { Button, Paper, Stack, Switch, Text, Title } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { Comparison } from '#client/types.gen'
import { sharedQueries } from '../../api/queries.ts'
import { AddDomainNotice } from '../../components/add-domain-notice.tsx'
import { Data } from '../../components/data-text.tsx'
import { formatMoment, formatNumber } from '../../components/format.ts'
import { Num } from '../../components/numbers.tsx'
import { PageHeader } from '../../components/page-header.tsx'
import { QueryState } from '../../components/query-state.tsx'
import { SimpleTable } from '../../components/simple-table.tsx'
import { useTimeZone } from '../../components/use-time-zone.ts'
import { messages } from '../../messages.ts'
import { useSearchParams, useTimeRange } from '../../url-state/use-search-params.ts'
import { CompareFields } from './compare-fields.tsx'
import { ComparedRows } from './compare-rows.tsx'
import {
  COMPARE,
  type CompareValues,
  comparisonQuery,
  type Domain,
  releasesQuery,
  type Sides,
  sidesOf,
  withDefaults,
  withFirst,
} from './compare-sides.ts'
import { latestChangeQuery } from './queries.ts'

/** `/compare`: differences between two releases, periods, environments or domains. */
export function ComparePage() {
  const query = useQuery(sharedQueries.domains())
  const latest = useQuery(latestChangeQuery())
  const t = messages.compare
  return (
    <>
      <PageHeader title={messages.shell.pages.compare} />
      <Text c="dimmed" mb="md" maw="72ch">
        {t.about}
      </Text>
      <QueryState
        query={query}
        isEmpty={({ domains }) => domains.length === 0}
        empty={<AddDomainNotice sentence={t.noDomains} />}
      >
        {({ domains }) => (
          <QueryState query={latest}>
            {({ changes }) => <Choice domains={withFirst(domains, changes[0]?.domainId)} />}
          </QueryState>
        )}
      </QueryState>
    </>
  )
}

/** The fields, and the comparison once the releases of the domain are known. */
function Choice({ domains }: { domains: readonly Domain[] }) {
  const [values, set] = useSearchParams(COMPARE)
  const { from, to } = useTimeRange()
  const domainId = values.domainId || (domains[0]?.id ?? '')
  const releases = useQuery({ ...releasesQuery(domainId), enabled: values.by === 'versions' })
  const known = releases.data?.releases ?? []
  const domainIds = domains.map(({ id }) => id)
  const complete = withDefaults(values, { domainIds, versions: known.map(({ version }) => version), from, to })
  const fields = <CompareFields {...{ values: complete, set, domains, releases: known, now: to }} />
  if (values.by !== 'versions') {
    return (
      <>
        {fields}
        <Result values={complete} sides={sidesOf(complete, { from, to })} domains={domains} />
      </>
    )
  }
  return (
    <>
      {fields}
      <QueryState query={releases}>
        {() => <Result values={complete} sides={sidesOf(complete, { from, to })} domains={domains} />}
      </QueryState>
    </>
  )
}

const MISSING = {
  versions: 'noReleases',
  periods: 'invalidPeriods',
  environments: 'none',
  domains: 'oneDomain',
} as const

function Result({
  values,
  sides,
  domains,
}: {
  values: CompareValues
  sides: Sides | null
  domains: readonly Domain[]
}) {
  if (sides === null) return <Missing by={values.by} />
  return <Compared values={values} sides={sides} names={sideNames(values, domains)} />
}

/** Says what is missing. A domain without releases can still be compared with its own past. */
function Missing({ by }: Pick<CompareValues, 'by'>) {
  const [, set] = useSearchParams(COMPARE)
  return (
    <Stack gap="sm" align="flex-start">
      <Text>{messages.compare[MISSING[by]]}</Text>
      {by === 'versions' && (
        <Button variant="default" onClick={() => set({ by: 'periods' })}>
          {messages.compare.comparePeriods}
        </Button>
      )}
    </Stack>
  )
}

/** Returns how the sides are called in headings. */
function sideNames(
  { by, aVersion, bVersion, aEnv, bEnv, aDomainId, bDomainId }: CompareValues,
  domains: readonly Domain[],
) {
  const t = messages.compare
  const nameOf = (wanted: string) => domains.find(({ id }) => id === wanted)?.name ?? wanted
  if (by === 'versions') return [t.release(String(aVersion)), t.release(String(bVersion))] as const
  if (by === 'environments') return [t.environments[aEnv ?? 'prod'], t.environments[bEnv ?? 'dev']] as const
  if (by === 'domains') return [nameOf(aDomainId), nameOf(bDomainId)] as const
  return [t.period('A'), t.period('B')] as const
}

interface ComparedProps {
  values: CompareValues
  sides: Sides
  names: readonly [a: string, b: string]
}

function Compared({ values, sides, names }: ComparedProps) {
  const query = useQuery({ ...comparisonQuery(sides), placeholderData: keepPreviousData })
  const zone = useTimeZone()
  const [, set] = useSearchParams(COMPARE)
  const t = messages.compare
  const isAll = values.show === 'all'
  return (
    <QueryState query={query}>
      {(comparison) => {
        const shown = isAll ? comparison.rows : comparison.rows.filter(({ sure }) => sure)
        return (
          <Stack gap="lg">
            <section aria-label={t.size}>
              {values.by !== 'periods' && (
                <Text c="dimmed" fz="sm" mb="xs">
                  {t.covers(formatMoment(sides.a.from, zone), formatMoment(sides.a.to, zone))}
                </Text>
              )}
              <Sizes {...{ comparison, names }} />
            </section>
            <Switch
              label={t.showAll}
              checked={isAll}
              onChange={({ currentTarget }) => set({ show: currentTarget.checked ? 'all' : null })}
            />
            {shown.length === 0 && <NoDifference {...{ comparison, names }} />}
            <ComparedRows {...{ rows: shown, sides, names, isAll }} />
          </Stack>
        )
      }}
    </QueryState>
  )
}

function NoDifference({
  comparison: { a, b, rows },
  names,
}: {
  comparison: Comparison
  names: ComparedProps['names']
}) {
  const t = messages.compare
  const missing = a.events === 0 ? names[0] : b.events === 0 ? names[1] : null
  return (
    <div>
      {missing === null && <Title order={2}>{t.none}</Title>}
      <Text>
        <Data>{missing === null ? t.noneAbout(formatNumber(rows.length)) : t.noEvents(missing)}</Data>
      </Text>
    </div>
  )
}

function Sizes({ comparison: { a, b }, names }: { comparison: Comparison; names: ComparedProps['names'] }) {
  const t = messages.compare
  return (
    <Paper>
      <SimpleTable
        name={t.size}
        rows={[
          { name: names[0], ...a },
          { name: names[1], ...b },
        ]}
        keyOf={({ name }) => name}
        columns={[
          { head: t.side, cell: ({ name }) => <Data>{name}</Data> },
          { head: t.events, isNumber: true, cell: ({ events }) => <Num value={events} /> },
          { head: t.sessions, isNumber: true, cell: ({ sessions }) => <Num value={sessions} /> },
          {
            head: t.perSession,
            isNumber: true,
            cell: ({ events, sessions }) => <Num value={sessions > 0 ? events / sessions : null} digits={1} />,
          },
        ]}
      />
    </Paper>
  )
}
