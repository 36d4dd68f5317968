import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface PathLinkProps {
  /** A whole path of a page, made of the data; without a query. */
  path: string
  search?: Readonly<Record<string, string>>
  children: ReactNode
}

/** A link to a page whose path is known only from the data. */
export const PathLink = ({ path, search, children }: PathLinkProps) => (
  <Anchor component={Link} to={path as never} search={search as never} fz="inherit">
    {children}
  </Anchor>
)
