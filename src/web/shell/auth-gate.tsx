import { Modal } from '@mantine/core'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { useLinkParams } from '../api/bootstrap.ts'
import { queries } from '../api/queries.ts'
import { type SessionState, useSessionState } from '../api/session.ts'
import { LazyMount } from '../components/lazy-mount.tsx'
import { messages } from '../messages.ts'
import { pages } from '../pages/index.ts'
import { SignIn, SignInForms } from '../pages/sign-in/sign-in-form.tsx'
import { NoticeList } from './notice-list.tsx'
import { Shell } from './shell.tsx'

const isPublic = (path: string) => pages.some((page) => page.isPublic && page.path === path)

/**
 * Refetches all queries when the user signs in with a different credential while a page is open, in this tab or
 * another.
 */
function useOwnAnswers(state: SessionState): void {
  const credential = state.is === 'open' ? state.session.credential : null
  const last = useRef(credential)
  useEffect(() => {
    if (credential === null || credential === last.current) return
    last.current = credential
    void queries.invalidateQueries()
  }, [credential])
}

/** Renders the page for signed-in users. Shows the sign-in form at the same URL to everyone else. */
export function AuthGate() {
  const state = useSessionState()
  const { failure } = useLinkParams()
  const path = useLocation({ select: ({ pathname }) => pathname })
  const wasIn = useRef(false)
  if (state.is === 'open') wasIn.current = true
  if (state.is === 'none') wasIn.current = false
  useOwnAnswers(state)
  const isIn = state.is === 'open' || (state.is === 'ended' && wasIn.current)
  return (
    <>
      {isPublic(path) ? <Outlet /> : isIn ? <Shell /> : <SignIn reason={failure} />}
      {/* The page stays mounted behind the dialog, which preserves input. */}
      <LazyMount isOpen={isIn && state.is === 'ended'}>
        {(isOpen) => (
          <Modal
            opened={isOpen}
            onClose={() => {}}
            withCloseButton={false}
            closeOnEscape={false}
            title={messages.signIn.title}
          >
            <SignInForms reason={messages.signIn.sessionExpired} />
          </Modal>
        )}
      </LazyMount>
      <NoticeList />
    </>
  )
}
