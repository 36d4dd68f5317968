import { Modal } from '@mantine/core'
import { Outlet, useLocation } from '@tanstack/react-router'
import { useRef } from 'react'
import { useArrival } from '../api/arrival.ts'
import { useSessionState } from '../api/session.ts'
import { SignIn, SignInForms } from '../pages/sign-in/sign-in.tsx'
import { words } from '../words.ts'
import { NoticeList } from './notice-list.tsx'
import { Shell } from './shell.tsx'

/** Pages for who is not signed in. */
const OPEN_PATHS = ['/setup', '/invite', '/reset']

/** Lets who is signed in to the page, and shows the form to everybody else, at the same address. */
export function Gate() {
  const state = useSessionState()
  const { failure } = useArrival()
  const path = useLocation({ select: ({ pathname }) => pathname })
  const wasIn = useRef(false)
  if (state.is === 'open') wasIn.current = true
  if (state.is === 'none') wasIn.current = false
  const isIn = state.is === 'open' || (state.is === 'ended' && wasIn.current)
  return (
    <>
      {OPEN_PATHS.includes(path) ? <Outlet /> : isIn ? <Shell /> : <SignIn reason={failure} />}
      {/* What was typed behind it stays. */}
      <Modal
        opened={isIn && state.is === 'ended'}
        onClose={() => {}}
        withCloseButton={false}
        closeOnEscape={false}
        title={words.signIn.title}
      >
        <SignInForms reason={words.signIn.ended} />
      </Modal>
      <NoticeList />
    </>
  )
}
