import { Paper, Skeleton, Table, Text } from '@mantine/core'
import { IconChevronRight } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { EventDictionary } from '#client/types.gen'
import { useValues } from '../../address/use-search.ts'
import { Ago } from '../../parts/ago.tsx'
import { Code, Data } from '../../parts/data.tsx'
import { FilterBar } from '../../parts/filter-bar.tsx'
import { formatHours, formatNumber } from '../../parts/format.ts'
import { Num } from '../../parts/numbers.tsx'
import { QueryState } from '../../parts/query-state.tsx'
import { words } from '../../words.ts'
import { DICTIONARY } from './address.ts'
import { type DictionaryEvent, eventsByVendor, type FlatRow, findKeys, type Key, SHOWN_AT_MOST } from './dictionary.ts'
import classes from './explore.module.css'
import { ExploreHead, NothingArrived, useAsked } from './explore-head.tsx'
import { Meter } from './meter.tsx'
import { type Asked, questions } from './questions.ts'

const COLUMNS = 6
/** So many values of a key are shown. */
const EXAMPLES = 3

/** `/explore/dictionary`: every vendor, event and key that arrived, and in how many events a key is present. */
export function DictionaryPage() {
  const [{ q, vendor, event }] = useValues(DICTIONARY)
  const asked = { ...useAsked(), vendor, event }
  const query = useQuery({ ...questions.dictionary(asked), placeholderData: keepPreviousData })
  const flat = useQuery({ ...questions.flatDictionary(asked), placeholderData: keepPreviousData })
  const said = words.explore
  return (
    <>
      <ExploreHead name="dictionary">
        <FilterBar
          fields={DICTIONARY}
          filters={[
            { is: 'search', name: 'q' },
            { is: 'chip', name: 'vendor', label: said.vendor, options: [] },
            { is: 'chip', name: 'event', label: said.event, options: [] },
          ]}
        />
      </ExploreHead>
      <Paper>
        <QueryState query={query} isEmpty={({ vendors }) => vendors.length === 0} empty={<NothingArrived />}>
          {(dictionary) => (
            <QueryState query={flat}>
              {({ rows, truncated }) => (
                <>
                  <About dictionary={dictionary} />
                  {truncated && (
                    <Text c="dimmed" fz="sm" mb="md">
                      {said.dictionary.more(formatNumber(rows.length))}
                    </Text>
                  )}
                  {q === '' ? (
                    <Tree dictionary={dictionary} rows={rows} asked={asked} />
                  ) : (
                    <Found rows={findKeys(rows, q)} q={q} />
                  )}
                </>
              )}
            </QueryState>
          )}
        </QueryState>
      </Paper>
    </>
  )
}

function About({ dictionary: { vendors, sampledEvents, windowHours } }: { dictionary: EventDictionary }) {
  const all = vendors.reduce((sum, { events }) => sum + events, 0)
  return (
    <Text mb="md" maw="72ch">
      {words.explore.dictionary.about(
        formatNumber(all, 0),
        formatHours(windowHours),
        sampledEvents < all ? formatNumber(sampledEvents) : null,
      )}
    </Text>
  )
}

function DictionaryTable({ children }: { children: ReactNode }) {
  const said = words.explore.dictionary
  const heads = [
    { head: said.name },
    { head: said.presence, isNumber: true },
    { head: said.type },
    { head: said.values, isNumber: true },
    { head: said.examples },
    { head: said.lastSeen },
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: whoever scrolls with the keyboard needs the focus in the box
    <section aria-label={words.explore.pages.dictionary} tabIndex={0} className="scroll">
      <Table aria-label={words.explore.pages.dictionary} horizontalSpacing="md">
        <Table.Thead>
          <Table.Tr>
            {heads.map(({ head, isNumber }) => (
              <Table.Th key={head} scope="col" ta={isNumber ? 'end' : undefined}>
                {head}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>{children}</Table.Tbody>
      </Table>
    </section>
  )
}

interface FoldProps {
  level: 0 | 1
  name: string
  /** How much is in it. */
  about: ReactNode
  lastSeen?: number | null
  isOpenAtFirst?: boolean
  children: ReactNode
}

/** A row that shows what is in it, or hides it. */
function Fold({ level, name, about, lastSeen, isOpenAtFirst = false, children }: FoldProps) {
  const [isOpen, open] = useState(isOpenAtFirst)
  return (
    <>
      <Table.Tr className={classes.row} data-level={level}>
        <Table.Th scope="row" pl={8 + level * 24}>
          <button type="button" className={classes.fold} aria-expanded={isOpen} onClick={() => open(!isOpen)}>
            <IconChevronRight size={16} aria-hidden />
            <Data>{name}</Data>
          </button>
          <span className={classes.about}>{about}</span>
        </Table.Th>
        <Table.Td colSpan={COLUMNS - 2} />
        <Table.Td>{lastSeen !== undefined && <Ago at={lastSeen} />}</Table.Td>
      </Table.Tr>
      {isOpen && children}
    </>
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
      {vendors.map(({ vendor, events: count }, index) => (
        <Fold
          key={vendor}
          level={0}
          isOpenAtFirst={index === 0}
          name={vendor}
          about={
            <>
              <Num value={count} digits={0} /> {words.explore.dictionary.eventsUnit}
            </>
          }
        >
          {(events.get(vendor) ?? []).map((event) => (
            <EventFold key={event.event} vendor={vendor} event={event} asked={asked} />
          ))}
        </Fold>
      ))}
    </DictionaryTable>
  )
}

function EventFold({ vendor, event, asked }: { vendor: string; event: DictionaryEvent; asked: Asked }) {
  const about = (
    <>
      <Num value={event.keys} /> {words.explore.dictionary.keysUnit}
    </>
  )
  return (
    <Fold level={1} name={event.event} about={about} lastSeen={event.lastSeen}>
      <Keys asked={{ ...asked, vendor, event: event.event }} />
    </Fold>
  )
}

/** The keys of one event, asked for when it is opened. */
function Keys({ asked }: { asked: Asked }) {
  const query = useQuery(questions.dictionary(asked))
  const keys = query.data?.vendors[0]?.keys
  if (keys !== undefined && keys.length > 0) return keys.map((key) => <KeyRow key={key.key} of={key} />)
  return (
    <Table.Tr>
      <Table.Td colSpan={COLUMNS} pl={56}>
        <QueryState query={query} skeleton={<Skeleton height={20} aria-label={words.explore.dictionary.loading} />}>
          {() => words.explore.dictionary.noKeys}
        </QueryState>
      </Table.Td>
    </Table.Tr>
  )
}

function KeyRow({ of: { key, presencePct, type, cardinality, examples, lastSeen } }: { of: Key }) {
  return (
    <Table.Tr className={classes.row}>
      <Table.Th scope="row" pl={56}>
        <Code>{key}</Code>
      </Table.Th>
      <Table.Td ta="end">
        <Meter share={presencePct / 100} />
      </Table.Td>
      <Table.Td>{words.explore.dictionary.types[type]}</Table.Td>
      <Table.Td ta="end">
        <Num value={cardinality} digits={0} />
      </Table.Td>
      <Table.Td className={classes.examples}>
        <Data>{examples.slice(0, EXAMPLES).join(' · ')}</Data>
      </Table.Td>
      <Table.Td>
        <Ago at={lastSeen} />
      </Table.Td>
    </Table.Tr>
  )
}

/** What a search found, each key with where it is. */
function Found({ rows, q }: { rows: readonly FlatRow[]; q: string }) {
  const said = words.explore.dictionary
  if (rows.length === 0) return <Text>{words.explore.nothingFound(q)}</Text>
  return (
    <>
      {rows.length > SHOWN_AT_MOST && (
        <Text mb="md">{said.found(formatNumber(rows.length), formatNumber(SHOWN_AT_MOST))}</Text>
      )}
      <DictionaryTable>
        {rows.slice(0, SHOWN_AT_MOST).map(({ domain, vendor, event, key, count, values, lastSeen }) => (
          <Table.Tr key={JSON.stringify([domain, vendor, event, key])} className={classes.row}>
            <Table.Th scope="row">
              <Code>{key}</Code>
              <div className={classes.hosts}>
                <Data>{[vendor, event, domain].join(' · ')}</Data>
              </div>
            </Table.Th>
            <Table.Td ta="end">
              <Num value={count} digits={0} /> {said.eventsUnit}
            </Table.Td>
            <Table.Td colSpan={2} />
            <Table.Td className={classes.examples}>
              <Data>
                {values
                  .slice(0, EXAMPLES)
                  .map(({ value }) => value)
                  .join(' · ')}
              </Data>
            </Table.Td>
            <Table.Td>
              <Ago at={lastSeen} />
            </Table.Td>
          </Table.Tr>
        ))}
      </DictionaryTable>
    </>
  )
}
