import type { ReactNode } from 'react'
import { Data, Sentence } from './data-text.tsx'
import classes from './issue-title.module.css'
import { splitIssueTitle } from './split-issue-title.ts'

/**
 * The finding of an issue's title, in full. Titles of an alert's issues begin alike, so the name is left to `AlertName`.
 * Screen readers read the whole title.
 */
export function IssueTitle({ title }: { title: string }) {
  const { finding, name } = splitIssueTitle(title)
  return (
    // `dir` applies to the whole title, so that it wraps at the end of the text.
    <span className={classes.title} dir="auto" translate="no">
      {name !== null && <span className="heard">{title}</span>}
      <span aria-hidden={name !== null}>
        <Sentence>{finding}</Sentence>
      </span>
    </span>
  )
}

/** The name of the alert, flow test or audit in an issue's title. It repeats what screen readers read as the title. */
export function AlertName({ title, after }: { title: string; after?: ReactNode }) {
  const { name } = splitIssueTitle(title)
  if (name === null) return null
  return (
    <span aria-hidden className={classes.name}>
      <Data>{name}</Data>
      {after}
    </span>
  )
}
