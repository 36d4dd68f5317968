import { Group, Title } from '@mantine/core'
import { type ReactNode, useEffect, useLayoutEffect, useRef } from 'react'
import { recentPages } from '../api/recent-pages.ts'
import { messages } from '../messages.ts'
import { Sentence } from './data-text.tsx'
import { showFullName } from './full-name-tooltip.ts'
import classes from './page-header.module.css'

let isFocusDue = false

/** The next page's heading takes the focus, so that screen readers say where one is. Called when the path changes. */
export function focusNextHeading(): void {
  isFocusDue = true
}

interface PageHeadProps {
  /** The `h1`, also the beginning of the tab's title. */
  title: string
  /** True when the title is a name of somebody's thing, and no word of ours. */
  isData?: boolean
  /** In brackets in the tab's title: `Issues (4)`. */
  count?: string | null
  /** Above the title: where the page belongs. */
  above?: ReactNode
  /** What one can do, at the right. */
  children?: ReactNode
}

/** The heading of a page, its acts, and the title of the tab. Every page has exactly one. */
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
      // The heading of what was loading goes, and that of what came takes its place.
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
