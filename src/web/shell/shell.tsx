import { Drawer, Kbd, Modal, Table } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useSyncExternalStore } from 'react'
import { live } from '../api/change-stream.ts'
import { whoamiQuery } from '../api/whoami.ts'
import { LazyMount } from '../components/lazy-mount.tsx'
import { messages } from '../messages.ts'
import { type Bindings, useKeyBindings } from '../state/key-bindings.ts'
import { notices } from '../state/notices.ts'
import { RANGES, type Range } from '../url-state/search-params.ts'
import { useSharedParams } from '../url-state/use-search-params.ts'
import { scopeOf } from './alert-scope-from-page.ts'
import { Header } from './header.tsx'
import { NAVIGATION, Navigation } from './navigation.tsx'
import classes from './shell.module.css'

// Loaded on first use.
const Palette = lazy(async () => ({ default: (await import('./command-palette.tsx')).Palette }))

/** The frame of all pages for signed-in users. */
export function Shell() {
  const isWide = useMediaQuery('(min-width: 768px)', undefined, { getInitialValueInEffect: false })
  const [isMenuOpen, menu] = useDisclosure()
  const [areKeysShown, keys] = useDisclosure()
  const [isPaletteOpen, palette] = useDisclosure()
  useShellKeys(keys.open, palette.toggle)
  return (
    <>
      <a href="#main" className={classes.skip}>
        {messages.shell.skip}
      </a>
      <Header openMenu={isWide ? null : menu.open} showShortcuts={keys.open} showPalette={palette.open} />
      <div className={classes.body}>
        {isWide ? (
          <div className={classes.side}>
            <Navigation />
          </div>
        ) : (
          <Drawer
            opened={isMenuOpen}
            onClose={menu.close}
            size={260}
            title={messages.shell.product}
            closeButtonProps={{ 'aria-label': messages.shell.close }}
          >
            <Navigation onGo={menu.close} />
          </Drawer>
        )}
        <main id="main" className={`column ${classes.main}`} tabIndex={-1}>
          <Page />
        </main>
      </div>
      <LazyMount isOpen={isPaletteOpen}>
        {(isOpen) => (
          <Suspense>
            <Palette isOpen={isOpen} close={palette.close} />
          </Suspense>
        )}
      </LazyMount>
      <NewIssues />
      <LazyMount isOpen={areKeysShown}>{(isOpen) => <Shortcuts isOpen={isOpen} close={keys.close} />}</LazyMount>
    </>
  )
}

/** The current page. Waits for the user's role, so that controls don't shift the layout later. */
function Page() {
  const { data, failureReason } = useQuery(whoamiQuery())
  return data || failureReason ? <Outlet /> : <div aria-busy="true" />
}

/** Global key bindings. */
function useShellKeys(showShortcuts: () => void, showPalette: () => void): void {
  const navigate = useNavigate()
  const [, setShared] = useSharedParams()
  const ranges = RANGES.map((range: Range, index) => [
    String(index + 1),
    () => setShared({ range, from: null, to: null }),
  ])
  const pages = [...NAVIGATION.flatMap(({ entries }) => entries), { key: 'r', to: '/report' } as const].map(
    ({ key, to }) => [`g ${key}`, () => void navigate({ to })],
  )
  const bindings: Bindings = {
    ...Object.fromEntries([...ranges, ...pages]),
    '?': showShortcuts,
    'Control+k': showPalette,
    z: () => notices.undoLast(),
    c: () => void navigate({ to: '/alerts/new', search: scopeOf(location) as never }),
    '/': () => document.querySelector<HTMLInputElement>('input[type=search]')?.focus(),
  }
  useKeyBindings(bindings)
}

/** Announces new issues to screen readers, at most once a minute. */
function NewIssues() {
  const news = useSyncExternalStore(live.subscribe, () => live.read().newIssues)
  return (
    <div aria-live="polite" className="heard">
      {news && (
        // A new key repeats the announcement even if the text is the same.
        <span key={news.at}>
          {messages.shell.newIssues(
            news.count,
            news.worstCount,
            messages.displayNames.severities[news.worst].toLowerCase(),
          )}
        </span>
      )}
    </div>
  )
}

/** Dialog with all keyboard shortcuts. */
function Shortcuts({ isOpen, close }: { isOpen: boolean; close(): void }) {
  return (
    <Modal
      opened={isOpen}
      onClose={close}
      title={messages.shell.shortcuts}
      size="lg"
      closeButtonProps={{ 'aria-label': messages.shell.close }}
    >
      {messages.keys.map(({ title, keys }) => (
        <Table key={title} captionSide="top" mb="md">
          <Table.Caption ta="start" fw={600}>
            {title}
          </Table.Caption>
          <Table.Tbody>
            {keys.map(({ key, action }) => (
              <Table.Tr key={key}>
                <Table.Th scope="row" w={160} fw={400}>
                  {key.split(' ').map((part) => (
                    <Kbd key={part} mr={4} translate="no">
                      {part}
                    </Kbd>
                  ))}
                </Table.Th>
                <Table.Td>{action}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      ))}
    </Modal>
  )
}
