import { Button, Input, Paper, Skeleton, Table, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getFlatDictionary } from '#client/sdk.gen'
import type { EventDictionary } from '#client/types.gen'
import { MAX_HOURS } from '../../../../contract/limits.ts'
import { ExportMenu } from '../../../components/export-menu.tsx'
import { FilterBar } from '../../../components/filter-bar.tsx'
import { formatHours, formatNumber } from '../../../components/format.ts'
import { Num } from '../../../components/numbers.tsx'
import { QueryState } from '../../../components/query-state.tsx'
import { SamplingNote } from '../../../components/sampling-note.tsx'
import { messages } from '../../../messages.ts'
import { useSearchParams } from '../../../url-state/use-search-params.ts'
import { ExploreHeader, NoEvents, useExploreParams } from '../explore-header.tsx'
import { DICTIONARY, type ExploreParams, exploreQueries, periodOn } from '../queries.ts'
import {
  COLUMNS,
  DictionaryTable,
  Fold,
  KeyRow,
  RowPages,
  SearchResults,
  useDictionarySorting,
} from './dictionary-rows.tsx'
import { type DictionaryEvent, eventsByVendor, type FlatRow, findKeys } from './events-by-vendor.ts'
import { sortEvents, sortKeys } from './sort-dictionary.ts'

/** `/explore/dictionary`: every vendor, event and key, with the share of events that have the key. */
export function DictionaryPage() {
  const [{ q, vendor, event, segment, seen }] = useSearchParams(DICTIONARY)
  const params = { ...useExploreParams(), vendor, event, segment }
  const period = periodOn('dictionary', params)
  // At the maximum time range there is nothing to compare with.
  const isComparable = period.hours < MAX_HOURS.dictionary
  const change = isComparable ? seen : null
  const t = messages.explore
  return (
    <>
      <ExploreHeader
        name="dictionary"
        period={period}
        acts={
          <ExportMenu
            of={getFlatDictionary}
            queryKey={exploreQueries.flatDictionary(params).queryKey}
            name="dictionary"
          />
        }
      >
        <FilterBar
          fields={DICTIONARY}
          filters={[
            { is: 'search', name: 'q' },
            { is: 'chip', name: 'vendor', label: t.vendor, options: [] },
            { is: 'chip', name: 'event', label: t.event, options: [] },
            { is: 'chip', name: 'segment', label: t.segment, options: [] },
          ]}
        />
        {isComparable && <SeenChips />}
      </ExploreHeader>
      {change ? <ChangedKeys change={change} params={params} q={q} /> : <FullDictionary params={params} q={q} />}
    </>
  )
}

/** Limits the list to new or gone keys. */
function SeenChips() {
  const [{ seen }, set] = useSearchParams(DICTIONARY)
  const t = messages.explore.dictionary
  return (
    <div>
      <Input.Label labelElement="div" aria-hidden>
        {t.changedKeys}
      </Input.Label>
      <Button.Group aria-label={t.changedKeys} miw={0}>
        {(['new', 'gone'] as const).map((one) => (
          <Button
            key={one}
            variant={seen === one ? 'light' : 'default'}
            aria-pressed={seen === one}
            onClick={() => set({ seen: seen === one ? null : one })}
          >
            {t.changes[one]}
          </Button>
        ))}
      </Button.Group>
    </div>
  )
}

interface PartProps {
  params: ExploreParams
  q: string
}

/** Keys that appeared or disappeared within the time range. */
function ChangedKeys({ change, params, q }: PartProps & { change: 'new' | 'gone' }) {
  const query = useQuery(exploreQueries.changedKeys(params))
  const t = messages.explore.dictionary
  return (
    <Paper>
      <Text mb="md" maw="72ch">
        {t.about[change](formatHours(MAX_HOURS.dictionary))}
      </Text>
      <QueryState
        query={query}
        isEmpty={(keys) => keys[change].length === 0 && !keys.sampling}
        empty={<Text>{t.noChanges[change]}</Text>}
      >
        {(keys) => (
          <>
            {keys.sampling && (
              <Text c="dimmed" fz="sm" mb="md" maw="72ch">
                {messages.components.sampling.compared(
                  formatNumber(keys.sampling.oneIn),
                  formatNumber(keys.sampling.detectableSessions),
                )}
              </Text>
            )}
            <SearchResults rows={findKeys(keys[change], q)} q={q} domainId={params.domainId} />
          </>
        )}
      </QueryState>
    </Paper>
  )
}

function FullDictionary({ params, q }: PartProps) {
  const query = useQuery({ ...exploreQueries.dictionary(params), placeholderData: keepPreviousData })
  const flat = useQuery({ ...exploreQueries.flatDictionary(params), placeholderData: keepPreviousData })
  const t = messages.explore
  return (
    <Paper>
      <QueryState query={query} isEmpty={({ vendors }) => vendors.length === 0} empty={<NoEvents />}>
        {(dictionary) => (
          <QueryState query={flat}>
            {({ rows, truncated }) => (
              <>
                <Totals dictionary={dictionary} />
                <SamplingNote sampling={dictionary.sampling} />
                {truncated && (
                  <Text c="dimmed" fz="sm" mb="md">
                    {t.dictionary.truncated(formatNumber(rows.length))}
                  </Text>
                )}
                {q === '' ? (
                  <Tree dictionary={dictionary} rows={rows} params={params} />
                ) : (
                  <SearchResults rows={findKeys(rows, q)} q={q} domainId={params.domainId} dictionary={dictionary} />
                )}
              </>
            )}
          </QueryState>
        )}
      </QueryState>
    </Paper>
  )
}

function Totals({ dictionary: { vendors, sampledEvents } }: { dictionary: EventDictionary }) {
  const all = vendors.reduce((sum, { events }) => sum + events, 0)
  return (
    <Text mb="md" maw="72ch">
      {messages.explore.dictionary.about.all(
        formatNumber(all, 0),
        sampledEvents < all ? formatNumber(sampledEvents) : null,
      )}
    </Text>
  )
}

interface TreeProps {
  dictionary: EventDictionary
  rows: readonly FlatRow[]
  params: ExploreParams
}

function Tree({ dictionary: { vendors }, rows, params }: TreeProps) {
  const events = eventsByVendor(rows)
  const { value: sort } = useDictionarySorting()
  return (
    <DictionaryTable>
      <RowPages rows={vendors} level={0}>
        {({ vendor, events: count }) => (
          <Fold
            key={vendor}
            level={0}
            isOpenAtFirst={vendor === vendors[0]?.vendor}
            name={vendor}
            about={
              <>
                <Num value={count} digits={0} /> {messages.explore.dictionary.eventsUnit(count)}
              </>
            }
          >
            <RowPages rows={sortEvents(events.get(vendor) ?? [], sort)} level={1}>
              {(event) => <EventFold key={event.event} vendor={vendor} event={event} params={params} />}
            </RowPages>
          </Fold>
        )}
      </RowPages>
    </DictionaryTable>
  )
}

function EventFold({ vendor, event, params }: { vendor: string; event: DictionaryEvent; params: ExploreParams }) {
  const about = (
    <>
      <Num value={event.keys} /> {messages.explore.dictionary.keysUnit(event.keys)}
    </>
  )
  return (
    <Fold level={1} name={event.event} about={about} lastSeen={event.lastSeen}>
      <Keys params={{ ...params, vendor, event: event.event }} />
    </Fold>
  )
}

/** The keys of one event, loaded when it is expanded. */
function Keys({ params }: { params: ExploreParams }) {
  const query = useQuery(exploreQueries.dictionary(params))
  const keys = query.data?.vendors[0]?.keys
  const { value: sort } = useDictionarySorting()
  if (keys !== undefined && keys.length > 0) {
    return (
      <RowPages rows={sortKeys(keys, sort)} level={2}>
        {(key) => <KeyRow key={key.key} of={key} params={params} />}
      </RowPages>
    )
  }
  return (
    <Table.Tr>
      <Table.Td colSpan={COLUMNS} pl={56}>
        <QueryState query={query} skeleton={<Skeleton height={20} aria-label={messages.explore.dictionary.loading} />}>
          {() => messages.explore.dictionary.noKeys}
        </QueryState>
      </Table.Td>
    </Table.Tr>
  )
}
