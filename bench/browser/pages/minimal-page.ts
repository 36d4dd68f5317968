import { createElement } from 'react'
import { createRoot } from 'react-dom/client'

const place = document.getElementById('root')
if (place) createRoot(place).render(createElement('h1', null, 'Bare'))
