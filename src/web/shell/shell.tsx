import { Drawer } from '@mantine/core'
import { useDisclosure, useMediaQuery } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Outlet, useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useSyncExternalStore } from 'react'
import { PAGE_PATHS } from '../../contract/page-paths.ts'
import { live } from '../api/change-stream.ts'
import { whoamiQuery } from '../api/whoami.ts'
import { LazyMount } from '../components/lazy-mount.tsx'
import { messages } from '../messages.ts'
import { pages } from '../pages/index.ts'
import { type Bindings, useKeyBindings } from '../state/key-bindings.ts'
import { notices } from '../state/notices.ts'
import { RANGES, type Range } from '../url-state/search-params.ts'
import { useSharedParams } from '../url-state/use-search-params.ts'
import { scopeOf } from './alert-scope-from-page.ts'
import { Header } from './header.tsx'
import { Navigation } from './navigation.tsx'
import { QuietBanner } from './quiet-banner.tsx'
import classes from './shell.module.css'

// Loaded on first use.
const Palette = lazy(async () => ({ default: (await import('./command-palette.tsx')).Palette }))
const RequiredSecondFactor = lazy(async () => ({
  default: (await import('../pages/settings/required-second-factor.tsx')).RequiredSecondFactor,
}))
const Shortcuts = lazy(async () => ({ default: (await import('./shortcuts-dialog.tsx')).Shortcuts }))

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
          <QuietBanner />
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
      <LazyMount isOpen={areKeysShown}>
        {(isOpen) => (
          <Suspense>
            <Shortcuts isOpen={isOpen} close={keys.close} />
          </Suspense>
        )}
      </LazyMount>
    </>
  )
}

/** The current page. Waits for the user's role, so that controls don't shift the layout later. */
function Page() {
  const { data, failureReason } = useQuery(whoamiQuery())
  if (data?.secondFactorDue) {
    return (
      <Suspense fallback={<div aria-busy="true" />}>
        <RequiredSecondFactor organization={data.orgName} />
      </Suspense>
    )
  }
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
  const openPage = pages.flatMap(({ path, menu }) =>
    menu?.keys ? [[menu.keys, () => void navigate({ to: path })] as const] : [],
  )
  const bindings: Bindings = {
    ...Object.fromEntries([...ranges, ...openPage]),
    '?': showShortcuts,
    'Control+k': showPalette,
    z: () => notices.undoLast(),
    // In addition to opening the page, passes the scope of the current page.
    c: () => void navigate({ to: PAGE_PATHS.alerts.new, search: scopeOf(location) as never }),
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
