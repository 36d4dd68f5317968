import { Kbd, Modal, TextInput, useMantineColorScheme } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { type KeyboardEvent, useEffect, useId, useRef, useState } from 'react'
import { searchNamesOptions } from '#client/@tanstack/react-query.gen'
import { recentPages } from '../api/recent-pages.ts'
import { hasRole, useWhoami } from '../api/whoami.ts'
import { Data, Sentence } from '../components/data-text.tsx'
import { ErrorNotice } from '../components/query-state.tsx'
import { messages } from '../messages.ts'
import { pages } from '../pages/index.ts'
import { matching, type PaletteAction, paletteActions } from '../state/palette-actions.ts'
import classes from './command-palette.module.css'

/** Minimum length of the text, and pause in typing, before a search request is sent. */
const LETTERS = 2
const PAUSE_MS = 150
const MOST = 20

interface Item extends PaletteAction {
  key: string
  group: 'acts' | 'recent' | 'pages' | 'things'
  /** True if the name is user data rather than a text from `messages.ts`. */
  isData?: boolean
  /** Type of the resource, and a string that distinguishes it from other resources. */
  detail?: { kind: string; text?: string }
}

interface PaletteProps {
  isOpen: boolean
  close(): void
}

/** Command palette: actions, pages and resources in one search field. */
export function Palette({ isOpen, close }: PaletteProps) {
  return (
    <Modal.Root
      opened={isOpen}
      onClose={close}
      size="lg"
      padding={0}
      yOffset="10vh"
      centered={false}
      transitionProps={{ duration: 0 }}
    >
      <Modal.Overlay />
      <Modal.Content aria-label={messages.palette.title}>
        <Modal.Body p={0}>
          <Search close={close} />
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  )
}

function Search({ close }: { close(): void }) {
  const [typed, type] = useState('')
  const [active, setActive] = useState(0)
  const list = useId()
  const found = useFound(typed.trim())
  const items = [...useOffers(typed), ...found.items]
  const chosen = Math.min(active, items.length - 1)
  const activeRow = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls when the selection changes
  useEffect(() => void activeRow.current?.scrollIntoView({ block: 'nearest' }), [chosen])
  const take = (item: Item | undefined) => {
    if (!item) return
    close()
    // After the dialog has restored the focus.
    setTimeout(() => item.run())
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const steps: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
    const step = steps[event.key]
    if (step !== undefined) setActive((chosen + step + items.length) % Math.max(1, items.length))
    else if (event.key === 'Enter') take(items[chosen])
    else return
    event.preventDefault()
  }
  return (
    <>
      <TextInput
        role="combobox"
        aria-label={messages.palette.field}
        aria-expanded
        aria-controls={list}
        aria-activedescendant={items[chosen] && `${list}-${chosen}`}
        aria-autocomplete="list"
        placeholder={messages.palette.hint}
        value={typed}
        size="md"
        data-autofocus
        autoFocus
        classNames={{ input: classes.field }}
        onChange={({ currentTarget }) => {
          type(currentTarget.value)
          setActive(0)
        }}
        onKeyDown={onKeyDown}
      />
      <div
        role="listbox"
        id={list}
        aria-label={messages.palette.title}
        className={classes.list}
        aria-busy={found.isAsking}
      >
        {items.map((item, index) => (
          <div key={item.key} role="presentation">
            {item.group !== items[index - 1]?.group && (
              <div className={classes.group} role="presentation">
                {messages.palette[item.group]}
              </div>
            )}
            <Row
              item={item}
              id={`${list}-${index}`}
              isActive={index === chosen}
              place={index === chosen ? activeRow : undefined}
              take={() => take(item)}
            />
          </div>
        ))}
      </div>
      {found.error ? <ErrorNotice refusal={found.error} retry={found.retry} /> : null}
      {items.length === 0 && !found.isAsking && <p className={classes.nothing}>{messages.palette.nothing}</p>}
    </>
  )
}

interface RowProps {
  item: Item
  id: string
  isActive: boolean
  place: React.Ref<HTMLDivElement> | undefined
  take(): void
}

function Row({ item: { name, isData, letter, detail }, id, isActive, place, take }: RowProps) {
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the search field has the focus and handles keys
    // biome-ignore lint/a11y/useFocusableInteractive: the search field uses aria-activedescendant
    <div ref={place} id={id} role="option" aria-selected={isActive} className={classes.row} onClick={take}>
      <span className={classes.name}>{isData ? <Sentence>{name}</Sentence> : name}</span>
      {detail && (
        <span className={classes.detail}>
          {detail.kind} {detail.text && <Data>{detail.text}</Data>}
        </span>
      )}
      {letter && (
        <Kbd size="xs" aria-hidden translate="no">
          {letter}
        </Kbd>
      )}
    </div>
  )
}

/** Actions of the page, global actions, and pages. */
function useOffers(typed: string): Item[] {
  const { history } = useRouter()
  const { setColorScheme } = useMantineColorScheme()
  const who = useWhoami()
  const { palette } = messages
  const go = (path: string) => () => history.push(path)
  const entries = pages.flatMap(({ path, menu }) => (menu ? [{ ...menu, path }] : []))
  const asOffers = (offered: typeof entries): PaletteAction[] =>
    offered.map(({ path, title, keywords, keys }) => ({
      name: title(),
      keywords: keywords(),
      letter: keys,
      run: go(path),
    }))
  const making = entries.filter(({ action }) => action !== null && hasRole(who, action))
  const reading = entries.filter(({ action }) => action === null)
  const themes = [
    { name: palette.themeLight, run: () => setColorScheme('light') },
    { name: palette.themeDark, run: () => setColorScheme('dark') },
    { name: palette.themeSystem, run: () => setColorScheme('auto') },
  ].map((act) => ({ ...act, keywords: palette.themeKeywords }))
  const acts = [...paletteActions(), ...asOffers(making), ...(typed.trim() === '' ? [] : themes)]
  const asItems = (group: Item['group'], offers: readonly PaletteAction[]): Item[] =>
    matching(offers, typed).map((offer) => ({ ...offer, group, key: `${group}${offer.name}` }))
  const latest = typed.trim() === '' ? recentItems(go) : []
  return [...asItems('acts', acts), ...latest, ...asItems('pages', asOffers(reading))]
}

/** Recently opened resources. */
function recentItems(go: (path: string) => () => void): Item[] {
  const places: Readonly<Record<string, string>> = { ...messages.shell.pages, audits: messages.tests.audits }
  return recentPages.before(location.pathname).map(({ path, name }) => ({
    key: `recent${path}`,
    group: 'recent',
    name,
    isData: true,
    run: go(path),
    detail: { kind: places[path.split('/')[1] ?? ''] ?? '' },
  }))
}

/** Search results from the server. */
function useFound(typed: string) {
  const { history } = useRouter()
  const [q] = useDebouncedValue(typed, PAUSE_MS)
  const isAsked = q.length >= LETTERS
  const { data, error, isFetching, refetch } = useQuery({
    ...searchNamesOptions({ query: { q: q.slice(0, 100), limit: MOST } }),
    enabled: isAsked,
    placeholderData: keepPreviousData,
  })
  const items = (isAsked ? (data?.results ?? []) : []).map(
    ({ kind, id, title, detail, path }): Item => ({
      key: `${kind}${id}`,
      group: 'things',
      name: title,
      isData: true,
      detail: { kind: messages.palette.kinds[kind], text: detail },
      run: () => history.push(path),
    }),
  )
  return { items, error: isAsked ? error : null, isAsking: isFetching || q !== typed, retry: () => void refetch() }
}
