import { Group, Title } from '@mantine/core'
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { recentPages } from '../api/recent-pages.ts'
import { messages } from '../messages.ts'
import { Sentence } from './data-text.tsx'
import { showFullName } from './full-name-tooltip.ts'
import classes from './page-header.module.css'

let isFocusDue = false

/** Focuses the heading of the next page, so that screen readers announce it. Called when the path changes. */
export function focusNextHeading(): void {
  isFocusDue = true
}

interface PageHeadProps {
  /** The `h1` and the start of the document title. */
  title: string
  /** True if the title is user data. */
  isData?: boolean
  /** Shown in the document title: `Issues (4)`. */
  count?: string | null
  /** Shown above the title, such as a breadcrumb. */
  above?: ReactNode
  /** Actions, shown to the right. */
  children?: ReactNode
}

/** Heading and actions of a page; also sets the document title. Every page has exactly one. */
export function PageHeader({ title, isData = false, count = null, above, children }: PageHeadProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    document.title = messages.shell.documentTitle(title, count)
  }, [title, count])
  useEffect(() => {
    if (isData) recentPages.visit(location.pathname, title)
  }, [isData, title])
  useLayoutEffect(() => {
    const own = heading.current
    if (isFocusDue) {
      isFocusDue = false
      own?.focus({ preventScroll: true })
    }
    return () => {
      // The heading of the loading state is replaced. If it had the focus, the next heading is focused.
      if (own !== null && document.activeElement === own) isFocusDue = true
    }
  }, [])
  return (
    <header className={classes.head}>
      {above}
      <Group justify="space-between" gap="md">
        <Title order={1} ref={heading} tabIndex={-1} className={classes.title} onPointerOver={showFullName}>
          {isData ? <Sentence>{title}</Sentence> : title}
        </Title>
        {children && <Group gap="sm">{children}</Group>}
      </Group>
    </header>
  )
}
