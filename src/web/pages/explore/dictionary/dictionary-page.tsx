import { Button, Paper, Skeleton, Table, Text } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import type { EventDictionary } from '#client/types.gen'
import { useValues } from '../../../address/use-search.ts'
import { messages } from '../../../messages.ts'
import { FilterBar } from '../../../parts/filter-bar.tsx'
import { formatHours, formatNumber } from '../../../parts/format.ts'
import { Num } from '../../../parts/numbers.tsx'
import { QueryState } from '../../../parts/query-state.tsx'
import { ExploreHead, NothingArrived, useAsked } from '../explore-header.tsx'
import { type Asked, DICTIONARY, DICTIONARY_HOURS, dictionaryHours, questions } from '../queries.ts'
import { type DictionaryEvent, eventsByVendor, type FlatRow, findKeys } from './dictionary.ts'
import { COLUMNS, DictionaryTable, Fold, Found, KeyRow, RowParts } from './dictionary-rows.tsx'

/** `/explore/dictionary`: every vendor, event and key, and the share of events that have a key. */
export function DictionaryPage() {
  const [{ q, vendor, event, seen }] = useValues(DICTIONARY)
  const asked = { ...useAsked(), vendor, event }
  // Beyond the longest time range there is nothing to compare with.
  const change = dictionaryHours(asked) < DICTIONARY_HOURS ? seen : null
  const t = messages.explore
  return (
    <>
      <ExploreHead name="dictionary">
        <FilterBar
          fields={DICTIONARY}
          filters={[
            { is: 'search', name: 'q' },
            { is: 'chip', name: 'vendor', label: t.vendor, options: [] },
            { is: 'chip', name: 'event', label: t.event, options: [] },
          ]}
        />
        {dictionaryHours(asked) < DICTIONARY_HOURS && <SeenChips />}
      </ExploreHead>
      {change ? <Changed change={change} asked={asked} q={q} /> : <Whole asked={asked} q={q} />}
    </>
  )
}

/** Limits the list to new or gone keys. */
function SeenChips() {
  const [{ seen }, set] = useValues(DICTIONARY)
  const t = messages.explore.dictionary
  return (
    <Button.Group aria-label={t.changed} miw={0}>
      {(['new', 'gone'] as const).map((one) => (
        <Button
          key={one}
          variant={seen === one ? 'light' : 'default'}
          aria-pressed={seen === one}
          onClick={() => set({ seen: seen === one ? null : one })}
        >
          {t.seen[one]}
        </Button>
      ))}
    </Button.Group>
  )
}

interface PartProps {
  asked: Asked
  q: string
}

/** Keys that appeared or disappeared in the time range. */
function Changed({ change, asked, q }: PartProps & { change: 'new' | 'gone' }) {
  const query = useQuery(questions.changedKeys(asked))
  const t = messages.explore.dictionary
  return (
    <Paper>
      <Text mb="md" maw="72ch">
        {t.about[change](formatHours(dictionaryHours(asked)), formatHours(DICTIONARY_HOURS))}
      </Text>
      <QueryState query={query} isEmpty={(keys) => keys[change].length === 0} empty={<Text>{t.none[change]}</Text>}>
        {(keys) => <Found rows={findKeys(keys[change], q)} q={q} domainId={asked.domainId} />}
      </QueryState>
    </Paper>
  )
}

function Whole({ asked, q }: PartProps) {
  const query = useQuery({ ...questions.dictionary(asked), placeholderData: keepPreviousData })
  const flat = useQuery({ ...questions.flatDictionary(asked), placeholderData: keepPreviousData })
  const t = messages.explore
  return (
    <Paper>
      <QueryState query={query} isEmpty={({ vendors }) => vendors.length === 0} empty={<NothingArrived />}>
        {(dictionary) => (
          <QueryState query={flat}>
            {({ rows, truncated }) => (
              <>
                <About dictionary={dictionary} />
                {truncated && (
                  <Text c="dimmed" fz="sm" mb="md">
                    {t.dictionary.more(formatNumber(rows.length))}
                  </Text>
                )}
                {q === '' ? (
                  <Tree dictionary={dictionary} rows={rows} asked={asked} />
                ) : (
                  <Found rows={findKeys(rows, q)} q={q} domainId={asked.domainId} />
                )}
              </>
            )}
          </QueryState>
        )}
      </QueryState>
    </Paper>
  )
}

function About({ dictionary: { vendors, sampledEvents, windowHours } }: { dictionary: EventDictionary }) {
  const all = vendors.reduce((sum, { events }) => sum + events, 0)
  return (
    <Text mb="md" maw="72ch">
      {messages.explore.dictionary.about.all(
        formatNumber(all, 0),
        formatHours(windowHours),
        sampledEvents < all ? formatNumber(sampledEvents) : null,
      )}
    </Text>
  )
}

interface TreeProps {
  dictionary: EventDictionary
  rows: readonly FlatRow[]
  asked: Asked
}

function Tree({ dictionary: { vendors }, rows, asked }: TreeProps) {
  const events = eventsByVendor(rows)
  return (
    <DictionaryTable>
      <RowParts rows={vendors} level={0}>
        {({ vendor, events: count }) => (
          <Fold
            key={vendor}
            level={0}
            isOpenAtFirst={vendor === vendors[0]?.vendor}
            name={vendor}
            about={
              <>
                <Num value={count} digits={0} /> {messages.explore.dictionary.eventsUnit}
              </>
            }
          >
            <RowParts rows={events.get(vendor) ?? []} level={1}>
              {(event) => <EventFold key={event.event} vendor={vendor} event={event} asked={asked} />}
            </RowParts>
          </Fold>
        )}
      </RowParts>
    </DictionaryTable>
  )
}

function EventFold({ vendor, event, asked }: { vendor: string; event: DictionaryEvent; asked: Asked }) {
  const about = (
    <>
      <Num value={event.keys} /> {messages.explore.dictionary.keysUnit}
    </>
  )
  return (
    <Fold level={1} name={event.event} about={about} lastSeen={event.lastSeen}>
      <Keys asked={{ ...asked, vendor, event: event.event }} />
    </Fold>
  )
}

/** The keys of one event, loaded when it is expanded. */
function Keys({ asked }: { asked: Asked }) {
  const query = useQuery(questions.dictionary(asked))
  const keys = query.data?.vendors[0]?.keys
  if (keys !== undefined && keys.length > 0) {
    return (
      <RowParts rows={keys} level={2}>
        {(key) => <KeyRow key={key.key} of={key} asked={asked} />}
      </RowParts>
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
