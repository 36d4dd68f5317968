import { Link, type LinkProps } from '@tanstack/react-router'
import { useLayoutEffect, useRef } from 'react'
import classes from './tab-links.module.css'

interface SubLinksProps {
  /** Accessible name of the navigation. */
  name: string
  links: readonly { key: string; label: string; isHere: boolean; link: LinkProps }[]
}

/** Links between related pages, below their heading. On a phone, they are in one line that scrolls sideways. */
export function TabLinks({ name, links }: SubLinksProps) {
  const line = useRef<HTMLElement>(null)
  const here = links.find(({ isHere }) => isHere)?.key
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls again when the page changes
  useLayoutEffect(() => {
    const own = line.current
    const current = own?.querySelector<HTMLElement>('[aria-current]')
    if (own && current) own.scrollLeft = current.offsetLeft - (own.clientWidth - current.clientWidth) / 2
  }, [here])
  return (
    <nav ref={line} aria-label={name} className={classes.links}>
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
