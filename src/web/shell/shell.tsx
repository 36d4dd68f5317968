import { Drawer } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense } from 'react'
import { RANGES, type Range } from '../address/search.ts'
import { useShared } from '../address/use-search.ts'
import { whoAskedFor } from '../api/who.ts'
import { messages } from '../messages.ts'
import { Once } from '../parts/once.tsx'
import { Header } from './header.tsx'
import { type Bindings, useKeys } from './keys.ts'
import { NAVIGATION, Navigation } from './navigation.tsx'
import { NewIssues } from './new-issues.tsx'
import { notices } from './notices.ts'
import classes from './shell.module.css'
import { Shortcuts } from './shortcuts.tsx'
import { scopeOf } from './standing.ts'

// Who never asks for it does not load it.
const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }))

/** What surrounds every page of who is signed in. */
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
      <Once isOpen={isPaletteOpen}>
        {(isOpen) => (
          <Suspense>
            <Palette isOpen={isOpen} close={palette.close} />
          </Suspense>
        )}
      </Once>
      <NewIssues />
      <Once isOpen={areKeysShown}>{(isOpen) => <Shortcuts isOpen={isOpen} close={keys.close} />}</Once>
    </>
  )
}

/** The page of the address, as soon as it is known, or refused, what its reader may do: controls of a role push nothing aside. */
function Page() {
  const { data, failureReason } = useQuery(whoAskedFor())
  return data || failureReason ? <Outlet /> : <div aria-busy="true" />
}

/** The keys that work on every page. */
function useShellKeys(showShortcuts: () => void, showPalette: () => void): void {
  const navigate = useNavigate()
  const [, setShared] = useShared()
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
  useKeys(bindings)
}
