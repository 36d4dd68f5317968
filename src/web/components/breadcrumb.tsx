import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { messages } from '../messages.ts'

/** A link above the heading of a page to the list or item that the page belongs to. */
export function Breadcrumb({ to, children }: { to: string; children: ReactNode }) {
  return (
    <nav aria-label={messages.components.breadcrumb}>
      <Anchor component={Link} to={to} fz="sm">
        {children}
      </Anchor>
    </nav>
  )
}
