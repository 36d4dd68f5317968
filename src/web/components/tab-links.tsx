import { Link, type LinkProps } from '@tanstack/react-router'
import classes from './tab-links.module.css'

interface SubLinksProps {
  /** Accessible name of the navigation. */
  name: string
  links: readonly { key: string; label: string; isHere: boolean; link: LinkProps }[]
}

/** Links between related pages, below their heading. */
export function TabLinks({ name, links }: SubLinksProps) {
  return (
    <nav aria-label={name} className={classes.links}>
      {links.map(({ key, label, isHere, link }) => (
        <Link
          key={key}
          {...link}
          activeOptions={{ exact: true }}
          aria-current={isHere ? 'page' : undefined}
          className={classes.link}
        >
          {label}
        </Link>
      ))}
    </nav>
  )
}
