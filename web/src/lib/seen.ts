/** What is in the view, or so near that it soon will be; one observer tells all. */
const NEAR = '100px 0px';

const watching = new WeakMap<Element, (near: boolean) => void>();
let observer: IntersectionObserver | undefined;

/** Calls back whenever `element` comes near the view or leaves, until the returned function is called. */
export function seen(element: Element, then: (near: boolean) => void): () => void {
  observer ??= new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) watching.get(target)?.(isIntersecting);
    },
    { rootMargin: NEAR },
  );
  watching.set(element, then);
  observer.observe(element);
  return () => {
    observer?.unobserve(element);
    watching.delete(element);
  };
}
