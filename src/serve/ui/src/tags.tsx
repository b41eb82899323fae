// The tags of entities and documents, and what has a tag.
import { useState } from 'preact/hooks';
import { tool } from './ask.ts';
import { part, type Part } from './graph.tsx';
import { Choice, Kind, Nothing, Pending } from './parts.tsx';
import { count, many, visible } from './say.ts';
import { address, fileAddress, go, useAnswer, type Route } from './use.ts';

type Tags = { total: number; tags: { tag: string; count: number }[] };

export function TagsView({ route }: { route: Route }) {
  const of = route.query.get('of') === 'documents' ? 'documents' : 'entities';
  const tag = route.query.get('tag');
  const [filter, setFilter] = useState('');
  const tags = useAnswer<Tags>([of], (signal, waiting) => tool('ixchel_tags', of === 'documents' ? { kind: 'document' } : {}, signal, waiting));
  const wanted = filter.trim().toLowerCase().replace(/^#/, '');
  const shown = (tags.value?.tags ?? []).filter((one) => one.tag.toLowerCase().includes(wanted)).sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1));
  const most = Math.max(1, ...shown.map((one) => one.count));
  return (
    <section class={`tags ${tag ? 'has-tag' : ''}`}>
      <div class="tag-list">
        <div class="options">
          <Choice label="Tags of" value={of} of={[['entities', 'Entities'], ['documents', 'Documents']]} onPick={(of) => go(address('/tags', { of: of === 'documents' ? of : '' }))} />
          <input type="search" value={filter} placeholder="Filter tags" aria-label="Filter tags" onInput={(event) => setFilter(event.currentTarget.value)} />
          <span class="counts" role="status">{tags.value && many(shown.length, 'tag')}</span>
        </div>
        <Pending answer={tags} />
        {tags.value && tags.value.total === 0 && (
          <Nothing title={of === 'entities' ? 'No entity has a tag' : 'No document has a tag'}>
            <p>Write tags in front matter, as <code>tags: [storage]</code>, or in Markdown, as <code>#hashtags</code>.</p>
          </Nothing>
        )}
        <ul class="cloud">
          {shown.slice(0, 400).map((one) => (
            <li key={one.tag}>
              <a class={one.tag === tag ? 'is-current' : ''} aria-current={one.tag === tag} href={address('/tags', { of: of === 'documents' ? of : '', tag: one.tag })}>
                <span class="name">#{visible(one.tag)}</span><span class="amount">{count(one.count)}</span>
                <i style={{ width: `${(100 * one.count) / most}%` }} />
              </a>
            </li>
          ))}
        </ul>
        {shown.length > 400 && <p class="faint">and {count(shown.length - 400)} more: filter them.</p>}
      </div>
      {tag && <Carriers tag={tag} of={of} />}
    </section>
  );
}

function Carriers({ tag, of }: { tag: string; of: string }) {
  const filter = `tag:${/\s/.test(tag) ? `"${tag}"` : tag}`;
  const documents = useAnswer<{ results: { file_path: string; line: number; preview: string }[]; next_offset?: number }>(
    [tag, of],
    of === 'documents' ? (signal, waiting) => tool('query', { text: filter, limit: 200 }, signal, waiting) : null,
  );
  const entities = useAnswer<Part>([tag, of], of === 'entities' ? (signal, waiting) => part({ tag, limit: 300 }, signal, waiting) : null);
  const files = [...new Set(documents.value?.results.map((hit) => hit.file_path))];
  return (
    <div class="carriers">
      <h2>#{visible(tag)}</h2>
      {of === 'documents' ? (
        <>
          <Pending answer={documents} />
          <ul class="plain">{files.map((path) => <li key={path}><a href={fileAddress(path)}><bdi>{visible(path)}</bdi></a></li>)}</ul>
          {documents.value?.next_offset && <p class="faint"><a href={address('/search', { q: filter })}>Search</a> for more</p>}
        </>
      ) : (
        <>
          <Pending answer={entities} />
          <ul class="plain">
            {entities.value?.nodes.map((node) => (
              <li key={node.id}><a href={address('/graph', { id: node.id })}><Kind kind={node.kind} /> <span><bdi>{visible(node.title || node.id)}</bdi></span></a></li>
            ))}
          </ul>
          {entities.value && entities.value.found! > entities.value.nodes.length && (
            <p class="faint">and {count(entities.value.found! - entities.value.nodes.length)} more, less connected</p>
          )}
        </>
      )}
    </div>
  );
}
