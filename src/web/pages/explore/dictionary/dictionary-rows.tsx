import { ActionIcon, Anchor, Table, Text } from '@mantine/core'
import { IconBellPlus, IconChevronRight, IconExternalLink } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import type { EventDictionary } from '#client/types.gen'
import { useHasRole } from '../../../api/whoami.ts'
import { joinIsolated } from '../../../bidi-isolation.ts'
import { Code, Data } from '../../../components/data-text.tsx'
import { formatNumber, formatPercent } from '../../../components/format.ts'
import { Num } from '../../../components/numbers.tsx'
import { Pager, Paginated, usePage } from '../../../components/paginated.tsx'
import { directionOf, SortButton, type Sorting } from '../../../components/sort-button.tsx'
import { TimeAgo } from '../../../components/time-ago.tsx'
import { messages } from '../../../messages.ts'
import { useSearchParams } from '../../../url-state/use-search-params.ts'
import classes from '../explore.module.css'
import { Meter } from '../meter.tsx'
import { DICTIONARY, type ExploreParams } from '../queries.ts'
import { type FlatRow, type Key, parameterOf } from './events-by-vendor.ts'
import { sortResults } from './sort-dictionary.ts'

export const COLUMNS = 7
/** Maximum number of example values per key. */
const EXAMPLES = 3

/** The order of the keys, in the URL; empty for that of the server. */
export function useDictionarySorting(): Sorting {
  const [{ sort }, set] = useSearchParams(DICTIONARY)
  return { value: sort ?? '', change: (value) => set({ sort: value as typeof sort }) }
}

/** The table that contains all rows of the dictionary. */
export function DictionaryTable({ children }: { children: ReactNode }) {
  const t = messages.explore.dictionary
  const sorting = useDictionarySorting()
  const heads = [
    { head: t.name, sort: 'name' },
    { head: t.presence, sort: 'presence', isNumber: true },
    { head: t.type, sort: 'type' },
    { head: t.values, sort: 'values', isNumber: true },
    { head: t.examples },
    { head: t.lastSeen, sort: 'lastSeen', isHighestFirst: true },
  ]
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: scrolling by keyboard requires focus
    <section aria-label={messages.explore.pages.dictionary} tabIndex={0} className="scroll">
      <Table
        aria-label={messages.explore.pages.dictionary}
        horizontalSpacing="md"
        className={classes.dictionary}
        data-cards
      >
        <Table.Thead>
          <Table.Tr>
            {heads.map(({ head, sort, isNumber, isHighestFirst }) => (
              <Table.Th
                key={head}
                scope="col"
                ta={isNumber ? 'end' : undefined}
                aria-sort={sort ? directionOf(sort, sorting) : undefined}
              >
                {sort ? (
                  <SortButton field={sort} sorting={sorting} isFigure={isNumber || isHighestFirst}>
                    {head}
                  </SortButton>
                ) : (
                  head
                )}
              </Table.Th>
            ))}
            <Table.Th scope="col" data-actions>
              <span className="heard">{messages.settings.actions}</span>
            </Table.Th>
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
  /** A summary of the content. */
  about: ReactNode
  lastSeen?: number | null
  isOpenAtFirst?: boolean
  children: ReactNode
}

/** A row that expands and collapses its content. */
export function Fold({ level, name, about, lastSeen, isOpenAtFirst = false, children }: FoldProps) {
  const [isOpen, open] = useState(isOpenAtFirst)
  return (
    <>
      <Table.Tr className={classes.row} data-level={level}>
        <Table.Th scope="row">
          <button type="button" className={classes.fold} aria-expanded={isOpen} onClick={() => open(!isOpen)}>
            <IconChevronRight size={16} aria-hidden />
            <Data>{name}</Data>
          </button>
          <span className={classes.about}>{about}</span>
        </Table.Th>
        <Table.Td colSpan={COLUMNS - 3} />
        <Table.Td>{lastSeen !== undefined && <TimeAgo at={lastSeen} />}</Table.Td>
        <Table.Td />
      </Table.Tr>
      {isOpen && children}
    </>
  )
}

/** Maximum number of rows shown per group before pagination. */
const ROWS_PER_PART = 50

/** Rows of the table, loaded in parts. */
export function RowPages<T>({
  rows,
  level,
  children,
}: {
  rows: readonly T[]
  level: 0 | 1 | 2
  children(row: T): ReactNode
}) {
  const { shown, ...paging } = usePage(rows, ROWS_PER_PART)
  return (
    <>
      {shown.map(children)}
      {rows.length > ROWS_PER_PART && (
        <Table.Tr>
          <Table.Td colSpan={COLUMNS} pl={8 + level * 24}>
            <Pager {...paging} />
          </Table.Td>
        </Table.Tr>
      )}
    </>
  )
}

/** A key of an event, with a link to create a rule. */
export function KeyRow({ of, params: { vendor, event, domainId } }: { of: Key; params: ExploreParams }) {
  const { key, presencePct, interval, cardinality, examples, lastSeen } = of
  const t = messages.explore.dictionary
  const title = interval && t.interval(formatPercent(interval.low / 100), formatPercent(interval.high / 100))
  return (
    <Table.Tr className={classes.row} data-level={2}>
      <Table.Th scope="row">
        <Code>{key}</Code>
        <Meaning of={of} />
      </Table.Th>
      <Table.Td ta="end" data-head={t.presence} title={title}>
        <Meter share={presencePct / 100} />
      </Table.Td>
      <Table.Td data-head={t.type}>{typeName(of)}</Table.Td>
      <Table.Td ta="end" data-head={t.values}>
        {interval ? t.atLeast(formatNumber(cardinality, 0)) : <Num value={cardinality} digits={0} />}
      </Table.Td>
      <KeyCells examples={examples} lastSeen={lastSeen} of={{ domainId, vendor, event, key }} />
    </Table.Tr>
  )
}

/** Returns the kind of the values if it is known, otherwise their form. */
function typeName({ type, semanticType }: Key): string {
  const { types, semanticTypes } = messages.explore.dictionary
  return semanticType ? semanticTypes[semanticType] : types[type]
}

/** The documented meaning of a key, with a link to the vendor's reference. */
function Meaning({ of: { key, meaning, reference } }: { of: Pick<Key, 'key' | 'meaning' | 'reference'> }) {
  return (
    meaning && (
      <Text component="div" fz="sm" c="dimmed" className={classes.meaning}>
        {meaning}{' '}
        {reference && (
          <Anchor
            href={reference}
            target="_blank"
            rel="noreferrer"
            aria-label={messages.explore.dictionary.reference(key)}
            title={messages.explore.dictionary.reference(key)}
          >
            <IconExternalLink size={14} aria-hidden />
          </Anchor>
        )}
      </Text>
    )
  )
}

/** Domain, vendor and event of a key: the scope of a rule for it. */
interface KeyScope {
  domainId?: string
  vendor?: string
  event?: string
  key: string
}

/** The last cells of a key's row, shared by the tree and the search results. */
function KeyCells({ examples, lastSeen, of }: { examples: readonly string[]; lastSeen: number | null; of: KeyScope }) {
  const t = messages.explore.dictionary
  return (
    <>
      <Table.Td className={classes.examples} data-head={t.examples}>
        <Data>{joinIsolated(examples.slice(0, EXAMPLES), ' · ')}</Data>
      </Table.Td>
      <Table.Td data-head={t.lastSeen}>
        <TimeAgo at={lastSeen} />
      </Table.Td>
      <Table.Td data-actions>
        <AlertWhenBlank of={of} />
      </Table.Td>
    </>
  )
}

/** A link that creates a rule for the key. */
function AlertWhenBlank({ of: { key, ...scope } }: { of: KeyScope }) {
  const may = useHasRole('member')
  const label = messages.explore.dictionary.alertWhenBlank(key)
  return (
    may && (
      <ActionIcon
        component={Link}
        to="/alerts/new"
        search={{ ...scope, parameter: parameterOf(key) } as never}
        variant="subtle"
        color="gray"
        aria-label={label}
        title={label}
      >
        <IconBellPlus size={16} aria-hidden />
      </ActionIcon>
    )
  )
}

interface SearchResultsProps {
  rows: readonly FlatRow[]
  q: string
  domainId: string | undefined
  /** Contains the meanings of the keys. Default: none are shown. */
  dictionary?: EventDictionary
}

/** Search results: keys with their vendor, event and domain. */
export function SearchResults({ rows, q, domainId, dictionary }: SearchResultsProps) {
  const keyOf = ({ vendor, key }: FlatRow) =>
    dictionary?.vendors.find((one) => one.vendor === vendor)?.keys.find((one) => one.key === key)
  const { value } = useDictionarySorting()
  if (rows.length === 0) return <Text>{messages.explore.noMatch(q)}</Text>
  return (
    <Paginated key={q} rows={sortResults(rows, value)}>
      {(shown) => (
        <DictionaryTable>
          {shown.map((row) => (
            <SearchResultRow
              key={JSON.stringify([row.domain, row.vendor, row.event, row.key])}
              of={row}
              known={keyOf(row)}
              domainId={domainId}
            />
          ))}
        </DictionaryTable>
      )}
    </Paginated>
  )
}

function SearchResultRow({ of, known, domainId }: { of: FlatRow; known?: Key; domainId: string | undefined }) {
  const { domain, vendor, event, key, count, values, lastSeen } = of
  const t = messages.explore.dictionary
  return (
    <Table.Tr className={classes.row}>
      <Table.Th scope="row">
        <Code>{key}</Code>
        <div className={classes.hosts}>
          <Data>{joinIsolated([vendor, event, domain], ' · ')}</Data>
        </div>
        {known && <Meaning of={known} />}
      </Table.Th>
      <Table.Td ta="end">
        <Num value={count} digits={0} /> {t.eventsUnit(count)}
      </Table.Td>
      <Table.Td data-head={known && t.type}>{known && typeName(known)}</Table.Td>
      <Table.Td />
      <KeyCells examples={values.map(({ value }) => value)} lastSeen={lastSeen} of={{ domainId, vendor, event, key }} />
    </Table.Tr>
  )
}
