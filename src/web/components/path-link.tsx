import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'

interface PathLinkProps {
  /** Complete path of a page, without a query. */
  path: string
  search?: Readonly<Record<string, string>>
  children: ReactNode
}

/** Link to a page whose path is only known at run time. */
export const PathLink = ({ path, search, children }: PathLinkProps) => (
  <Anchor component={Link} to={path as never} search={search as never} fz="inherit">
    {children}
  </Anchor>
)
